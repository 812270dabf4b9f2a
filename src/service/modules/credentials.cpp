#include "service/modules/credentials.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/seal_names.hpp"
#include "service/access/credentials.hpp"
#include "service/access/notices.hpp"
#include "service/audit.hpp"
#include "service/modules/installations.hpp"
#include "service/quotas.hpp"
#include "store/modules/credentials.hpp"

namespace muster::service {
namespace {

// Requires that the installation is locked, so that the count does not change before the commit.
void reject_if_unavailable(db::OrgStore& org, const rules::Installation& installation) {
    reject_disabled(installation);
    if (store::count_module_credentials(org, installation.id) >= kMostModuleCredentials) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason",
                    "an installation has at most " + std::to_string(kMostModuleCredentials) +
                        " unrevoked credentials, including expired ones; revoke one first");
    }
}

}  // namespace

IssuedModuleCredential issue_module_credential(OrgTransaction& transaction, const KeyRing& keys,
                                               InstallationId installation,
                                               const NewModuleCredential& fields) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto locked = lock_installation(transaction, installation);
    reject_past_expiry(fields.expires_at, transaction.now);
    reject_if_unavailable(org, locked);
    IssuedModuleCredential issued{
        {}, create_credential(kModuleCredentialPrefix), create_signing_secret(kIngestSecretPrefix)};
    rules::ModuleCredential& record = issued.record;
    record.id = CredentialId::create();
    record.installation_id = installation;
    record.organization_id = transaction.org();
    record.name = fields.name;
    record.last_four = last_four(issued.credential);
    record.created_by = transaction.actor.admin;
    record.created_by_email = transaction.actor.admin_email;
    record.created_at = transaction.now;
    record.expires_at = fields.expires_at;
    store::insert_module_credential(
        org, record, sha256(issued.credential.reveal()),
        keys.seal(issued.signing_secret.reveal(), rules::credential_seal_name(record.id)));
    take(org, rules::Quota::IssuedKeys, 1, rules::kMostIssuedKeys, transaction.now);
    audit(transaction, "module_credential.issued", record.id.text(),
          {{"installation_id", installation.text()}, {"name", record.name}});
    notify_of_access(transaction, keys,
                     {.what = "module credential",
                      .name = record.name,
                      .id = record.id.text(),
                      .remedy = "revoke the credential under Installations"});
    return issued;
}

std::vector<rules::ModuleCredential> list_module_credentials(Context& context, OrgId organization,
                                                             InstallationId installation,
                                                             std::optional<CredentialId> after,
                                                             int limit) {
    if (!find_installation(context, organization, installation)) throw Error(ErrorCode::NotFound);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp shown_since = Timestamp::now() - kRevokedKeyLife;
        return store::page_module_credentials(org, installation, after.value_or(CredentialId()),
                                              shown_since, limit);
    });
}

std::optional<rules::ModuleCredential> find_module_credential(Context& context, OrgId organization,
                                                              InstallationId installation,
                                                              CredentialId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return if_shown(store::find_module_credential(org, installation, id), Timestamp::now());
    });
}

void revoke_module_credential(OrgTransaction& transaction, InstallationId installation,
                              CredentialId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (!store::lock_module_credential(org, installation, id)) throw Error(ErrorCode::NotFound);
    if (store::revoke_module_credential(org, id, transaction.now)) {
        audit(transaction, "module_credential.revoked", id.text(),
              {{"installation_id", installation.text()}});
    }
}

std::map<std::string, VerifiedModule> verify_module_credentials(
    Context& context, std::span<const std::string> tokens) {
    const HashedTokens hashed(tokens);
    auto found = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_module_credentials(tx, hashed.hashes()); });
    const Timestamp now = Timestamp::now();
    std::map<std::string, VerifiedModule> modules;
    for (auto& [hash, credential, sealed_secret, is_disabled] : found) {
        if (is_disabled || is_expired_or_revoked(credential, now)) continue;
        touch(context, credential, now, store::lock_module_credential_to_touch,
              store::touch_module_credential);
        modules.emplace(
            hashed.token_of(hash),
            VerifiedModule{credential.organization_id,
                           {credential.id, credential.installation_id, std::move(sealed_secret)}});
    }
    return modules;
}

}  // namespace muster::service
