// Module credentials (mk_live_…): a module's backend authenticates with the credential and signs
// its requests with the credential's secret (specification 5 rule 8, docs/modules.md "Module
// credentials").
#pragma once

#include "base/secret.hpp"
#include "rules/modules/installations.hpp"
#include "service/context.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// A module's backend. The signing secret is decrypted only to verify a signed request.
struct ModuleCaller {
    CredentialId credential;
    InstallationId installation;
    std::string sealed_signing_secret;
};

inline constexpr std::string_view kModuleCredentialPrefix = "mk_live_";
inline constexpr std::string_view kIngestSecretPrefix = "mks_";
// The maximum number of credentials of one installation that are not revoked.
inline constexpr std::int64_t kMostModuleCredentials = 50;

struct NewModuleCredential {
    std::string name;
    std::optional<Timestamp> expires_at;
};

struct IssuedModuleCredential {
    rules::ModuleCredential record;
    Secret credential;      // both are returned only here
    Secret signing_secret;  // its ASCII text is the HMAC key
};

// Issues a credential, and mails the owners. Throws NOT_FOUND, VALIDATION_ERROR if `expires_at` is
// in the past, INVALID_STATE if the installation is disabled or has kMostModuleCredentials.
IssuedModuleCredential issue_module_credential(OrgTransaction& transaction, const KeyRing& keys,
                                               InstallationId installation,
                                               const NewModuleCredential& fields);

// At most `limit` credentials with an id greater than `after`, ordered by id. A revoked credential
// is listed for 30 days. Throws NOT_FOUND.
std::vector<rules::ModuleCredential> list_module_credentials(Context& context, OrgId organization,
                                                             InstallationId installation,
                                                             std::optional<CredentialId> after,
                                                             int limit);

// The credential, as long as it is listed.
std::optional<rules::ModuleCredential> find_module_credential(Context& context, OrgId organization,
                                                              InstallationId installation,
                                                              CredentialId id);

// Revokes the credential; it is rejected from the next request. Revoking a revoked credential
// changes nothing. Throws NOT_FOUND.
void revoke_module_credential(OrgTransaction& transaction, InstallationId installation,
                              CredentialId id);

// The organization and the module of a token.
struct VerifiedModule {
    OrgId organization;
    ModuleCaller module;
};
// The modules of these tokens (one or more), by token, found by one query. Unknown, revoked and
// expired credentials, and those of disabled installations, are left out. Updates `last_used_at` at
// most once a minute.
std::map<std::string, VerifiedModule> verify_module_credentials(
    Context& context, std::span<const std::string> tokens);

}  // namespace muster::service
