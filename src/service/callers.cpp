#include "service/callers.hpp"

#include "base/crypto.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/credentials.hpp"
#include "service/access/sessions.hpp"
#include "service/pages/publishable_keys.hpp"

#include <vector>

namespace muster::service {
namespace {

Caller caller_of(const rules::ApiKey& key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.actor.api_key = key.id;
    caller.key_role = rules::role_of(key);
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
    caller.actor.admin_email = session.email;
    caller.rate_subject = session.admin_id.bytes();
    caller.session = std::move(session);
    return caller;
}

Caller caller_of(rules::PublishableKey key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.rate_subject = key.id.bytes();
    caller.rate_per_second = key.rate_per_second;
    caller.burst = key.burst;
    caller.publishable_key = std::move(key);
    return caller;
}

using Tokens = std::vector<std::string>;

// The kinds of credentials, with the tokens to look up. A token's prefix and checksum decide its
// kind, so that a mistyped one needs no query.
struct TokensByKind {
    Tokens keys;
    Tokens modules;
    Tokens pages;
    Tokens sessions;

    void add(const std::string& token) {
        if (is_credential(kOrganizationKeyPrefix, token)) {
            keys.push_back(token);
        } else if (is_credential(kModuleCredentialPrefix, token)) {
            modules.push_back(token);
        } else if (is_publishable_token(token)) {
            pages.push_back(token);
        } else if (is_session_token(token)) {
            sessions.push_back(token);
        }
    }
};

// Adds the callers of the found credentials.
template <class Found>
void add(Callers& callers, std::map<std::string, Found> found) {
    for (auto& [token, credential] : found)
        callers.emplace(token, caller_of(std::move(credential)));
}

}  // namespace

std::optional<rules::Role> role_of(const Caller& caller) {
    return caller.session ? caller.session->role : caller.key_role;
}

std::string name_of(const Caller& caller) {
    if (caller.actor.api_key) return "key:" + caller.actor.api_key->text();
    if (caller.actor.admin) return "admin:" + caller.actor.admin->text();
    if (caller.module) return "module:" + caller.module->credential.text();
    if (caller.publishable_key) return "publishable:" + caller.publishable_key->id.text();
    return "none";
}

bool is_session_token(const std::string& token) {
    return is_credential("", token);
}

Callers identify(Context& context, const std::set<std::string>& tokens) {
    TokensByKind sent;
    for (const std::string& token : tokens) sent.add(token);
    Callers callers;
    if (!sent.keys.empty()) add(callers, verify_api_keys(context, sent.keys));
    if (!sent.modules.empty()) add(callers, verify_module_credentials(context, sent.modules));
    if (!sent.sessions.empty()) add(callers, verify_sessions(context, sent.sessions));
    for (auto& key : find_publishable_keys(context, sent.pages)) {
        std::string token = key.token;
        callers.emplace(std::move(token), caller_of(std::move(key)));
    }
    return callers;
}

}  // namespace muster::service
