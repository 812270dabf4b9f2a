// A delivery of an event to one endpoint, with its attempts.
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

enum class DeliveryStatus : std::uint8_t { Pending, Succeeded, Failed, Canceled };
inline std::string_view text_of(DeliveryStatus status) {
    constexpr std::array<std::string_view, 4> kTexts = {"pending", "succeeded", "failed",
                                                        "canceled"};
    return kTexts[static_cast<std::size_t>(status)];
}
[[nodiscard]] inline std::optional<DeliveryStatus> delivery_status_of(std::string_view text) {
    for (const auto status : {DeliveryStatus::Pending, DeliveryStatus::Succeeded,
                              DeliveryStatus::Failed, DeliveryStatus::Canceled}) {
        if (text_of(status) == text) return status;
    }
    return std::nullopt;
}

struct WebhookAttempt {
    Timestamp at;
    std::optional<std::int64_t> status_code;
    std::string attempt_class;  // rules/webhook_wire.hpp
    std::int64_t duration_ms = 0;
    std::optional<std::string> response_excerpt;
};

struct WebhookDelivery {
    DeliveryId id;
    std::string webhook_id;  // msg_…
    std::string event_type;
    DeliveryStatus status = DeliveryStatus::Pending;
    std::vector<WebhookAttempt> attempts;
    std::optional<Timestamp> next_attempt_at;
    Timestamp created_at;
};

}  // namespace muster::rules
