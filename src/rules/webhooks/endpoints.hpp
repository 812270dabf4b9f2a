// A webhook endpoint, without its secrets.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

enum class EndpointStatus : std::uint8_t { Active, Paused, Disabled };
inline std::string_view text_of(EndpointStatus status) {
    constexpr std::array<std::string_view, 3> kTexts = {"active", "paused", "disabled"};
    return kTexts[static_cast<std::size_t>(status)];
}
[[nodiscard]] inline std::optional<EndpointStatus> endpoint_status_of(std::string_view text) {
    for (const auto status :
         {EndpointStatus::Active, EndpointStatus::Paused, EndpointStatus::Disabled}) {
        if (text_of(status) == text) return status;
    }
    return std::nullopt;
}

// Specification 2.9, without its secrets.
struct WebhookEndpoint {
    EndpointId id;
    InstallationId module_installation_id;
    OrgId organization_id;
    std::string url;
    std::vector<std::string> subscribed_event_types;
    EndpointStatus status = EndpointStatus::Active;
    std::optional<std::string> disabled_reason;  // "gone", "failing": Muster did it; else nullopt
    std::optional<Timestamp> failing_since;
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules
