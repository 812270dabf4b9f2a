// Module credentials. The database holds only the SHA-256 of a secret, and the signing secret
// sealed.
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
    std::string secret_hash;
    rules::ModuleCredential credential;
    std::string sealed_signing_secret;
    bool is_disabled = false;  // its installation is disabled
};
// The credentials with these hashes (one or more), even if they are revoked or expired.
std::vector<FoundCredential> find_module_credentials(db::Tx& tx,
                                                     std::span<const std::string> secret_hashes);

// Ordered by id, after `after`, without credentials revoked before `shown_since`.
std::vector<rules::ModuleCredential> page_module_credentials(db::OrgStore& org,
                                                             InstallationId installation,
                                                             CredentialId after,
                                                             Timestamp shown_since, int limit);
// The number of the installation's credentials that are not revoked.
std::int64_t count_module_credentials(db::OrgStore& org, InstallationId installation);
std::optional<rules::ModuleCredential> find_module_credential(db::OrgStore& org,
                                                              InstallationId installation,
                                                              CredentialId id);
// Locks the credential until the transaction ends. False if the installation does not have it.
bool lock_module_credential(db::OrgStore& org, InstallationId installation, CredentialId id);
// False if the credential does not exist or was already revoked.
bool revoke_module_credential(db::OrgStore& org, CredentialId id, Timestamp now);
// Locks the record to set last_used_at. False if last_used_at is already `unless_since` or later,
// or if another transaction locks the record.
bool lock_module_credential_to_touch(db::OrgStore& org, CredentialId id, Timestamp unless_since);
void touch_module_credential(db::OrgStore& org, CredentialId id, Timestamp now);

}  // namespace muster::store
