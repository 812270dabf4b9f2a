// A webhook endpoint, without its secrets, and its health.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

enum class EndpointStatus : std::uint8_t { Active, Paused, Disabled };

// The current hour and those before it.
inline constexpr std::int64_t kHoursShown = 24;

// The results of attempts in some time.
struct RecentResults {
    std::int64_t succeeded = 0;        // deliveries
    std::int64_t failed = 0;           // deliveries without a further attempt
    std::int64_t failed_attempts = 0;  // including those that are retried
};

// Specification 2.9, without its secrets.
struct WebhookEndpoint {
    EndpointId id;
    InstallationId module_installation_id;
    OrgId organization_id;
    std::string url;
    std::optional<std::string> description;
    std::vector<std::string> subscribed_event_types;
    EndpointStatus status = EndpointStatus::Active;
    std::optional<std::string> disabled_reason;  // "gone" or "failing" if Muster disabled it
    std::optional<Timestamp> failing_since;
    std::optional<Timestamp> backlog_dropped_at;
    RecentResults last_24_hours;
    std::optional<Timestamp> last_succeeded_at;
    Timestamp created_at;
    Timestamp updated_at;
};

// An endpoint with the numbers of its pending and failed deliveries.
struct EndpointHealth {
    WebhookEndpoint endpoint;
    std::int64_t pending = 0;
    std::int64_t failed = 0;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::EndpointStatus> = {
    Name{rules::EndpointStatus::Active, "active"}, Name{rules::EndpointStatus::Paused, "paused"},
    Name{rules::EndpointStatus::Disabled, "disabled"}};

}  // namespace muster
