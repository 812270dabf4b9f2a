// Admins on the way to a provider's page and back, at most one for a connection. A state is known
// by its SHA-256 alone.
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
    SessionId session_id;  // who set out; may be gone by now
    std::string verifier;  // sealed
    std::string redirect_uri;
    Timestamp expires_at;
};

// In the place of the connection's one, if there is any.
void replace_authorization(db::OrgStore& org, const Authorization& authorization);
// The authorization of that state.
std::optional<Authorization> find_authorization(db::Tx& tx, std::string_view state_hash);
// Deletes it; false where another has been faster. Its connection is locked first, as everywhere:
// who sets out anew or deletes the connection has that one and wants this one.
[[nodiscard]] bool spend_authorization(db::Tx& tx, std::string_view state_hash);

}  // namespace muster::store
