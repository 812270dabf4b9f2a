// The JSON form of a campaign's targeting, in the API and in the campaign's row.
#pragma once

#include "base/record.hpp"
#include "rules/ads/ads.hpp"
#include "rules/attributes.hpp"

namespace muster {

// The same fields as kTargeting (api/ads/campaigns.cpp).
template <>
struct JsonType<rules::Targeting> {
    static constexpr auto kRecord = record<rules::Targeting>(
        "AdTargeting",
        field<&rules::Targeting::countries>(
            "countries", "Allowed countries of the visitor. Empty: any.", R"(["GB"])"),
        field<&rules::Targeting::locales>(
            "locales", "Allowed locales of the visitor; de also matches de-AT. Empty: any.",
            R"(["en"])"),
        field<&rules::Targeting::tags>("tags", "Tags, one of which the page must have. Empty: any.",
                                       R"(["football"])"),
        RecordField<rules::Targeting>{
            "attributes", "Values that the member must have, by attribute key. Empty: any.",
            [](JsonWriter& to, const rules::Targeting& of) { to.raw(of.attributes); },
            [] { return map_of(rules::attribute_value_schema()); }});
    static void write(JsonWriter& to, const rules::Targeting& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster
