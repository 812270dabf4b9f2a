// The JSON of a campaign's figures for one day.
#pragma once

#include "base/record.hpp"
#include "rules/ads/ads.hpp"

namespace muster {

template <>
struct JsonType<rules::AdDay> {
    using Day = rules::AdDay;
    static constexpr auto kRecord =
        record<Day>("AdDay", field<&Day::date>("date", "Day (UTC) as YYYY-MM-DD.", "2026-11-20"),
                    field<&Day::impressions>("impressions", "Number of impressions counted."),
                    field<&Day::clicks>("clicks", "Number of clicks counted."));
    static void write(JsonWriter& to, const Day& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster
