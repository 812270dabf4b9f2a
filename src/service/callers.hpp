// Who calls: an organization's key, a signed-in admin's session, a module's credential or a page's
// key (specification 5, docs/api/authentication.md "Authentication").
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
    std::optional<rules::PublishableKey> publishable_key;  // none of the three: an organization key
    // What a rate limit counts by, and the credential's own limits if it has any.
    std::string rate_subject;
    std::optional<std::int64_t> rate_per_second;
    std::optional<std::int64_t> burst;
};

// The caller behind a bearer token; nullopt for one that is malformed, unknown, revoked or expired,
// or of an installation that is disabled.
// Nothing is cached: a revocation counts from the next request on.
std::optional<Caller> identify(Context& context, std::string_view token);

Caller caller_of(const rules::PublishableKey& key);

}  // namespace muster::service
