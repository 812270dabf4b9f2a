// Pending authorizations of admins at a provider, at most one per connection. The database holds
// only the SHA-256 of a state.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::store {

struct Authorization {
    OrgId organization_id;
    ConnectionId connection_id;
    std::string state_hash;
    SessionId session_id;  // of the admin who began; may have ended
    std::string verifier;  // sealed
    std::string redirect_uri;
    Timestamp expires_at;
};

// Replaces the pending authorization of the connection, if any.
void replace_authorization(db::OrgStore& org, const Authorization& authorization);
// The authorization with this state.
std::optional<Authorization> find_authorization(db::Tx& tx, std::string_view state_hash);
// Deletes the authorization. False if another request was faster. Lock its connection first:
// beginning an authorization and deleting a connection lock in the same order.
[[nodiscard]] bool consume_authorization(db::Tx& tx, std::string_view state_hash);

}  // namespace muster::store
