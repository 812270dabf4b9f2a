// What an organization uses of its limits (docs/api/limits.md "GET /v1/organization/usage").
#pragma once

#include "base/ids.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::rules {

struct Usage {
    std::string quota;
    std::int64_t used = 0;  // counted up to the maximum + 1
    std::optional<std::int64_t> maximum;
    std::optional<Timestamp> frees_at;  // of a limit of the day
};

struct OrganizationUsage {
    OrgId organization_id;
    std::vector<Usage> usage;
};

// Waiting deliveries are counted up to this number + 1, also if the operator allows more.
inline constexpr std::int64_t kMostCountedDeliveries = 100'000;

}  // namespace muster::rules

namespace muster {

template <>
struct JsonType<rules::Usage> {
    static constexpr auto kRecord = record<rules::Usage>(
        "Usage",
        field<&rules::Usage::quota>("quota", "Name of the limit; docs/api/limits.md lists them.",
                                    "staged_bytes"),
        field<&rules::Usage::used>("used", "What is used, counted up to the maximum + 1.",
                                   "1048576"),
        field<&rules::Usage::maximum>("maximum", "The limit; null if there is none.", "2147483648"),
        field<&rules::Usage::frees_at>(
            "frees_at", "Time when a limit of the day begins again at 0; null for other limits."));
    static void write(JsonWriter& to, const rules::Usage& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

namespace rules {

inline constexpr auto kOrganizationUsage = record<OrganizationUsage>(
    "OrganizationUsage",
    field<&OrganizationUsage::organization_id>("organization_id", "Id of the organization."),
    field<&OrganizationUsage::usage>("usage", "What is used of each limit."));

}  // namespace rules

}  // namespace muster
