// Module credentials. The secret is known here by its SHA-256 only, the signing secret sealed.
#pragma once

#include "db/transaction.hpp"
#include "rules/modules/installations.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

void insert_module_credential(db::OrgStore& org, const rules::ModuleCredential& credential,
                              std::string_view secret_hash, std::string_view sealed_signing_secret);

struct FoundCredential {
    rules::ModuleCredential credential;
    std::string sealed_signing_secret;
    bool is_disabled = false;  // its installation is
};
// The credential with that hash, revoked and expired ones too.
std::optional<FoundCredential> find_module_credential(db::Tx& tx, std::string_view secret_hash);

// By id behind `after`; without those that were revoked before `shown_since`.
std::vector<rules::ModuleCredential> page_module_credentials(db::OrgStore& org,
                                                             InstallationId installation,
                                                             CredentialId after,
                                                             Timestamp shown_since, int limit);
// Those of the installation that are not revoked.
std::int64_t count_module_credentials(db::OrgStore& org, InstallationId installation);
// Locks it until the transaction ends; false when the installation has no such credential.
bool lock_module_credential(db::OrgStore& org, InstallationId installation, CredentialId id);
// False when there is no such credential or it was revoked before.
bool revoke_module_credential(db::OrgStore& org, CredentialId id, Timestamp now);
// Writes last_used_at unless it is `unless_since` or later.
void touch_module_credential(db::OrgStore& org, CredentialId id, Timestamp now,
                             Timestamp unless_since);

}  // namespace muster::store
