// Module credentials (mk_live_…): what a module's backend signs in with, each with the secret that
// it signs its requests with (specification 5 rule 8, docs/modules.md "Module credentials").
#pragma once

#include "base/secret.hpp"
#include "rules/modules/installations.hpp"
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

inline constexpr std::string_view kModuleCredentialPrefix = "mk_live_";
inline constexpr std::string_view kIngestSecretPrefix = "mks_";
// Unrevoked ones of one installation.
inline constexpr std::int64_t kMostModuleCredentials = 50;

struct NewModuleCredential {
    std::string name;
    std::optional<Timestamp> expires_at;
};

struct IssuedModuleCredential {
    rules::ModuleCredential record;
    Secret credential;      // both shown this once
    Secret signing_secret;  // its ASCII is the key of the HMAC
};

// Throws NOT_FOUND, VALIDATION_ERROR for an expires_at that has passed, and INVALID_STATE for an
// installation that is disabled or has as many as it may.
IssuedModuleCredential issue_module_credential(OrgTransaction& transaction, const KeyRing& keys,
                                               InstallationId installation,
                                               const NewModuleCredential& fields);

// By id behind `after`, at most `limit`; revoked ones for 30 days. Throws NOT_FOUND.
std::vector<rules::ModuleCredential> list_module_credentials(Context& context, OrgId organization,
                                                             InstallationId installation,
                                                             std::optional<CredentialId> after,
                                                             int limit);

// From the next request on; a revoked one stays as it is. Throws NOT_FOUND.
void revoke_module_credential(OrgTransaction& transaction, InstallationId installation,
                              CredentialId id);

// The organization and the module behind a token; nullopt for one that is unknown, revoked or
// expired, or whose installation is disabled. Notes its use, at most once a minute.
struct VerifiedModule {
    OrgId organization;
    ModuleCaller module;
};
std::optional<VerifiedModule> verify_module_credential(Context& context, std::string_view token);

}  // namespace muster::service
