// Connections to providers of external data (specification 2.11, docs/external-data.md). Types
// only.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

// Pending: no admin has consented yet. Expired: an admin must connect again. Revoked: the provider
// reports that access was withdrawn. Error: any other fault, described in `error`.
enum class ConnectionStatus : std::uint8_t { Pending, Connected, Expired, Revoked, Error };

struct ProviderConnection {
    OrgId organization_id;
    ConnectionId id;
    std::string provider;  // its id (rules/connections/providers.hpp)
    std::string name;
    std::string host;  // for a provider with one host per customer; otherwise ""
    ConnectionStatus status = ConnectionStatus::Pending;
    std::optional<std::string> error;  // for an admin
    std::string tokens;                // sealed; "" = none
    std::int64_t token_generation = 0;
    std::string details = "{}";  // JSON: values that the provider sent with the tokens
    std::optional<Timestamp> access_expires_at;
    std::optional<Timestamp> refresh_due_at;  // next action of the runner
    std::int64_t refresh_attempts = 0;        // failed attempts since the last success
    std::optional<Timestamp> refreshed_at;    // time of the last new tokens
    std::optional<AdminId> created_by;
    Timestamp created_at;
    Timestamp updated_at;
};

// The time that an admin has to consent on the provider's page.
inline constexpr Milliseconds kAuthorizationLife{10L * 60 * 1000};
inline constexpr int kMostConnections = 200;  // per organization

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::ConnectionStatus> = {
    Name{rules::ConnectionStatus::Pending, "pending"},
    Name{rules::ConnectionStatus::Connected, "connected"},
    Name{rules::ConnectionStatus::Expired, "expired"},
    Name{rules::ConnectionStatus::Revoked, "revoked"},
    Name{rules::ConnectionStatus::Error, "error"}};

}  // namespace muster
