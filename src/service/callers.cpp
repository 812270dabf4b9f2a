#include "service/callers.hpp"

#include "base/crypto.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/credentials.hpp"
#include "service/access/sessions.hpp"
#include "service/pages/publishable_keys.hpp"

#include <array>

namespace muster::service {
namespace {

Caller caller_of(const rules::ApiKey& key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.actor.api_key = key.id;
    caller.rate_subject = key.id.bytes();
    caller.rate_per_second = key.rate_per_second;
    caller.burst = key.burst;
    return caller;
}

Caller caller_of(VerifiedModule verified) {
    Caller caller;
    caller.actor.organization = verified.organization;
    caller.rate_subject = verified.module.credential.bytes();
    caller.module = std::move(verified.module);
    return caller;
}

Caller caller_of(rules::Session session) {
    Caller caller;
    caller.actor.organization = session.active_organization_id;
    caller.actor.admin = session.admin_id;
    caller.rate_subject = session.admin_id.bytes();
    caller.session = std::move(session);
    return caller;
}

}  // namespace

Caller caller_of(const rules::PublishableKey& key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.rate_subject = key.id.bytes();
    caller.rate_per_second = key.rate_per_second;
    caller.burst = key.burst;
    caller.publishable_key = key;
    return caller;
}

std::optional<Caller> identify(Context& context, std::string_view token) {
    // The checksum rejects mistyped tokens without a database query. A look-up by the SHA-256 of
    // 256 random bits leaks nothing useful through its timing.
    if (is_credential(kOrganizationKeyPrefix, token)) {
        const auto key = verify_api_key(context, token);
        return key ? std::optional(caller_of(*key)) : std::nullopt;
    }
    if (is_credential(kModuleCredentialPrefix, token)) {
        auto verified = verify_module_credential(context, token);
        return verified ? std::optional(caller_of(std::move(*verified))) : std::nullopt;
    }
    if (is_publishable_token(token)) {
        const auto keys = find_publishable_keys(context, std::array{std::string(token)});
        return keys.empty() ? std::nullopt : std::optional(caller_of(keys[0]));
    }
    if (!is_credential("", token)) return std::nullopt;
    auto session = verify_session_token(context, token);
    return session ? std::optional(caller_of(std::move(*session))) : std::nullopt;
}

}  // namespace muster::service
