// A delivery of an event to one endpoint, with its attempts.
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

enum class DeliveryStatus : std::uint8_t { Pending, Succeeded, Failed, Canceled };

// The classes of attempts (rules/webhooks/retry_schedule.hpp, counted_class), for filters.
enum class AttemptClass : std::uint8_t {
    Accepted,
    Redirect,
    ClientError,
    ServerError,
    Timeout,
    Dns,
    Connect,
    Tls,
    BlockedAddress,
    Internal
};

// The class under which dropped deliveries are counted together with the classes of attempts.
inline constexpr std::string_view kDroppedClass = "backlog_dropped";

struct WebhookAttempt {
    Timestamp at;
    std::optional<std::int64_t> status_code;
    std::string attempt_class;  // the outcome (net/webhooks/sender.hpp)
    std::int64_t duration_ms = 0;
    std::optional<std::string> response_excerpt;
    std::optional<std::string> signature;  // the header; nullopt before schema version 8
};

struct WebhookDelivery {
    DeliveryId id;
    EndpointId endpoint_id;
    InstallationId module_installation_id;
    std::string webhook_id;  // msg_…
    std::string event_type;
    DeliveryStatus status = DeliveryStatus::Pending;
    std::vector<WebhookAttempt> attempts;
    std::optional<Timestamp> next_attempt_at;
    Timestamp created_at;
    std::string payload;  // the body that is sent; "" in lists
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::DeliveryStatus> = {
    Name{rules::DeliveryStatus::Pending, "pending"},
    Name{rules::DeliveryStatus::Succeeded, "succeeded"},
    Name{rules::DeliveryStatus::Failed, "failed"},
    Name{rules::DeliveryStatus::Canceled, "canceled"}};

template <>
inline constexpr std::array kNames<rules::AttemptClass> = {
    Name{rules::AttemptClass::Accepted, "2xx"},
    Name{rules::AttemptClass::Redirect, "http_3xx"},
    Name{rules::AttemptClass::ClientError, "http_4xx"},
    Name{rules::AttemptClass::ServerError, "http_5xx"},
    Name{rules::AttemptClass::Timeout, "timeout"},
    Name{rules::AttemptClass::Dns, "dns"},
    Name{rules::AttemptClass::Connect, "connect"},
    Name{rules::AttemptClass::Tls, "tls"},
    Name{rules::AttemptClass::BlockedAddress, "blocked_address"},
    Name{rules::AttemptClass::Internal, "internal"}};

}  // namespace muster
