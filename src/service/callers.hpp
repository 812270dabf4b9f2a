// The caller of a request: an organization's key, an admin's session, a module credential or a
// publishable key (specification 5, docs/api/authentication.md "Authentication").
#pragma once

#include "rules/access/admins.hpp"
#include "rules/pages/publishable_keys.hpp"
#include "service/context.hpp"
#include "service/modules/credentials.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::service {

struct Caller {
    Actor actor;
    std::optional<rules::Session> session;
    std::optional<ModuleCaller> module;
    std::optional<rules::PublishableKey>
        publishable_key;  // With neither `session`, `module` nor `publishable_key`, the caller is
                          // an organization key.
    // The subject of the rate limit, and the credential's own limits if it has any.
    std::string rate_subject;
    std::optional<std::int64_t> rate_per_second;
    std::optional<std::int64_t> burst;
};

// The caller of a bearer token, or nullopt if the token is malformed, unknown, revoked or expired,
// or its installation is disabled. Not cached: a revocation takes effect with the next request.
std::optional<Caller> identify(Context& context, std::string_view token);

Caller caller_of(const rules::PublishableKey& key);

}  // namespace muster::service
