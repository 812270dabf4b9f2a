// Organizations, their admins' seats and their API keys: what the operator's tool manages, and the
// check of a credential (docs/api.md "Authentication").
#pragma once

#include "base/crypto.hpp"
#include "rules/records.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// With the starter attributes, disabled. Throws std::invalid_argument for a name that is empty or
// too long.
rules::Organization create_organization(Context& context, std::string_view name);
std::vector<rules::Organization> list_organizations(Context& context);
// Throws std::invalid_argument when there is none of that id.
void require_organization(Context& context, OrgId organization);

struct AddedAdmin {
    AdminId id;
    bool is_new_seat = false;
};
// A seat for the admin of that address, who is made if need be. Throws std::invalid_argument for a
// bad address.
AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role);

struct IssuedKey {
    rules::ApiKey key;
    Secret secret;  // shown this once
};
IssuedKey issue_api_key(Context& context, OrgId organization, std::string_view name,
                        std::optional<Timestamp> expires_at);
std::vector<rules::ApiKey> list_api_keys(Context& context, OrgId organization);
bool revoke_api_key(Context& context, OrgId organization, ApiKeyId id);

// The actor behind a bearer token; nullopt for one that is malformed, unknown, revoked or expired.
// Nothing is cached: a revocation counts from the next request on.
std::optional<Actor> verify_api_key(Context& context, std::string_view token);

}  // namespace muster::service
