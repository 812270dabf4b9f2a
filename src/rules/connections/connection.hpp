// Connections to providers of external data, as they travel between the floors (specification 2.11,
// docs/external-data.md). Types only.
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

// Pending: nobody has consented yet. Expired: somebody has to connect anew. Revoked: the provider
// says that the access was taken back. Error: something else is wrong, `error` says what.
enum class ConnectionStatus : std::uint8_t { Pending, Connected, Expired, Revoked, Error };

struct ProviderConnection {
    OrgId organization_id;
    ConnectionId id;
    std::string provider;  // its id (rules/connections/providers.hpp)
    std::string name;
    std::string host;  // of the provider that lives below a name of each customer's; else ""
    ConnectionStatus status = ConnectionStatus::Pending;
    std::optional<std::string> error;  // for an admin
    std::string tokens;                // sealed; "" = none
    std::int64_t token_generation = 0;
    std::string details = "{}";  // JSON: what the provider told beside the tokens
    std::optional<Timestamp> access_expires_at;
    std::optional<Timestamp> refresh_due_at;  // when the runner has something to do
    std::int64_t refresh_attempts = 0;        // that failed since the last one that did not
    std::optional<Timestamp> refreshed_at;    // when tokens came last
    std::optional<AdminId> created_by;
    Timestamp created_at;
    Timestamp updated_at;
};

// How long an admin has at the provider's page.
inline constexpr Milliseconds kAuthorizationLife{10L * 60 * 1000};
inline constexpr int kMostConnections = 200;  // of an organization

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
