// The caller of a request: an organization's key, an admin's session, a module credential or a
// publishable key (specification 5, docs/api/authentication.md "Authentication").
#pragma once

#include "rules/access/session.hpp"
#include "rules/pages/publishable_keys.hpp"
#include "service/context.hpp"
#include "service/modules/credentials.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace muster::service {

struct Caller {
    Actor actor;
    std::optional<rules::Session> session;
    std::optional<ModuleCaller> module;
    std::optional<rules::Role> key_role;  // of an organization key
    std::optional<rules::PublishableKey>
        publishable_key;  // With neither `session`, `module` nor `publishable_key`, the caller is
                          // an organization key.
    // The subject of the rate limit, and the credential's own limits if it has any.
    std::string rate_subject;
    std::optional<std::int64_t> rate_per_second;
    std::optional<std::int64_t> burst;
};

// The role of an admin's seat or of an organization key. nullopt: the caller has none.
std::optional<rules::Role> role_of(const Caller& caller);

// The credential and its id, for the log: "key:<id>", "admin:<id>", "module:<id of the
// credential>", "publishable:<id>", or "none".
std::string name_of(const Caller& caller);

// The callers of some tokens, by token.
using Callers = std::map<std::string, Caller, std::less<>>;

// Whether the token has the form of a session's. Does not check that the session exists.
bool is_session_token(const std::string& token);

// The callers of these tokens, found by one query for each kind of credential. Left out are tokens
// that are malformed, unknown, revoked or expired, and those of disabled installations. Not cached:
// a revocation takes effect with the next request.
Callers identify(Context& context, const std::set<std::string>& tokens);

}  // namespace muster::service
