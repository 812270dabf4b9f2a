// Who calls: an organization's key, a signed-in admin's session or a module's credential
// (specification 5, docs/api.md "Authentication"), and what an admin does with the session itself.
#pragma once

#include "base/crypto.hpp"
#include "rules/pages/publishable_keys.hpp"
#include "rules/records.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// A module's backend: what it signs with is opened only where a request is signed.
struct ModuleCaller {
    CredentialId credential;
    InstallationId installation;
    std::string sealed_signing_secret;
};

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

// A new session of the admin, before the second factor, on the earliest of the seats (at least
// one). The token is shown this once.
struct NewSession {
    rules::Session session;
    Secret token;
};
NewSession open_session(db::Tx& tx, const rules::Admin& admin,
                        const std::vector<rules::Seat>& seats, Timestamp now);

// The session of that id; nullopt for one that is gone, expired or was idle for too long. Whether
// it is past its second factor it says itself. To look is no use of it.
std::optional<rules::Session> live_session(db::Tx& tx, SessionId id, Timestamp now);

std::vector<rules::Seat> seats_of(Context& context, AdminId admin);
// False when the admin has no seat there.
bool set_active_organization(Context& context, const rules::Session& session, OrgId organization,
                             std::string_view request_id);
void close_session(Context& context, const rules::Session& session);

}  // namespace muster::service
