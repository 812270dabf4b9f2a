#include "service/modules/installations.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/log.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "rules/modules/installation_record.hpp"
#include "rules/modules/installations.hpp"
#include "rules/modules/manifest.hpp"
#include "rules/modules/modules.hpp"
#include "rules/seal_names.hpp"
#include "service/audit.hpp"
#include "service/modules/modules.hpp"
#include "service/outbox.hpp"
#include "store/modules/installations.hpp"
#include "store/modules/modules.hpp"
#include "store/outbox.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::Installation;
using rules::InstallationStatus;
using rules::ModuleStatus;
using rules::VersionStatus;

[[noreturn]] void reject_state(const char* reason) {
    throw Error(ErrorCode::InvalidState).detail("reason", reason);
}

[[noreturn]] void reject_second_installation() {
    throw Error(ErrorCode::Conflict).detail("field", "module_id");
}

// A version of the module that can be installed.
rules::ModuleVersion published_version(db::OrgStore& org, ModuleId module, VersionId id) {
    auto version = store::lock_version(org, module, id);
    if (!version) throw Error(ErrorCode::NotFound);
    if (version->status == VersionStatus::Draft)
        reject_state("the version is a draft; publish it first");
    return std::move(*version);
}

// Locks the module, then the installation. The module of an installation never changes.
Installation locked_with_module(OrgTransaction& transaction, InstallationId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto found = store::find_installation(org, id);
    if (!found) throw Error(ErrorCode::NotFound);
    (void)locked_module(org, found->module_id);
    return lock_installation(transaction, id);
}

// The config as it is stored has longer escapes than a request may use. One of an earlier version
// may be larger; it may not grow.
bool is_too_large(const rules::Config& config, std::size_t stored, std::size_t stored_secrets) {
    return config.shown.size() > std::max(rules::kMostConfigBytes, stored) ||
           config.secrets.reveal().size() > std::max(rules::kMostConfigBytes, stored_secrets);
}

// The config as it is stored, validated for the version.
rules::Config validated_config(const Installation& installation,
                               const rules::ModuleVersion& version, std::string_view config,
                               const Secret& kept) {
    Faults faults;
    auto checked = rules::check_config(version.manifest.text, config, kept, faults);
    if (is_too_large(checked, installation.config.text.size(), kept.reveal().size())) {
        faults.add("config", FieldCode::TooLong, longest(rules::kMostConfigBytes));
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    return checked;
}

// Stores the config in the record. Returns the encrypted secrets, "" if there are none.
std::string set_config(const KeyRing& keys, Installation& installation, rules::Config config) {
    installation.config.text = std::move(config.shown);
    if (config.secrets.empty()) return "";
    return keys.seal(config.secrets.reveal(), rules::config_seal_name(installation.id));
}

// Empty if the secrets cannot be decrypted; an admin fixes that by sending all of them again.
Secret stored_secrets(const KeyRing& keys, db::OrgStore& org, InstallationId id) {
    const std::string sealed = store::find_config_secrets(org, id);
    if (sealed.empty()) return {};
    auto secrets = keys.open(sealed, rules::config_seal_name(id));
    if (secrets) return std::move(*secrets);
    log_event(LogLevel::Warning, "installation.config_unreadable", {{"installation", id.text()}});
    return {};
}

void emit_event(OrgTransaction& transaction, std::string_view type,
                const Installation& installation) {
    emit(transaction,
         {type, std::nullopt, [&] { return to_json(rules::kInstallation, installation); }});
}

void set_enabled(OrgTransaction& transaction, Installation& installation) {
    db::OrgStore org(transaction.tx, transaction.org());
    installation.status = InstallationStatus::Enabled;
    installation.updated_at = next_version(installation.updated_at, transaction.now);
    if (!store::set_installation_status(org, installation.id, installation.status,
                                        installation.updated_at))
        reject_second_installation();
    emit_event(transaction, rules::event_type::kInstallationEnabled, installation);
    audit(transaction, "installation.enabled", installation.id.text());
}

}  // namespace

std::optional<rules::Installation> find_installation(Context& context, OrgId organization,
                                                     InstallationId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_installation(org, id);
    });
}

rules::Installation lock_installation(OrgTransaction& transaction, InstallationId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto installation = store::lock_installation(org, id);
    if (!installation) throw Error(ErrorCode::NotFound);
    return std::move(*installation);
}

void reject_disabled(const rules::Installation& installation) {
    if (installation.status == InstallationStatus::Disabled) {
        reject_state("the installation is disabled; enable it first");
    }
}

std::vector<rules::Installation> list_installations(Context& context, OrgId organization,
                                                    std::optional<InstallationId> after,
                                                    int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_installations(org, after.value_or(InstallationId()), limit);
    });
}

Installation install_module(Context& context, OrgTransaction& transaction,
                            const NewInstallation& in) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto module = locked_module(org, in.module_id);
    if (module.status == ModuleStatus::Deprecated)
        reject_state("the module is deprecated; install another one");
    const auto version_id = in.version_id ? in.version_id : module.current_version_id;
    if (!version_id) reject_state("the module was never published; publish a version first");
    const auto version = published_version(org, module.id, *version_id);

    Installation installation;
    installation.id = InstallationId::create();
    installation.module_id = module.id;
    installation.organization_id = transaction.org();
    installation.version_id = version.id;
    installation.installed_by = transaction.actor.admin;
    installation.installed_by_email = transaction.actor.admin_email;
    installation.installed_at = installation.created_at = installation.updated_at = transaction.now;
    const std::string sealed =
        set_config(context.keys, installation,
                   validated_config(installation, version, in.config ? in.config->text : "{}", {}));
    if (!store::insert_installation(org, installation, sealed)) reject_second_installation();
    emit_event(transaction, rules::event_type::kInstallationEnabled, installation);
    audit(transaction, "installation.created", installation.id.text(),
          {{"module_id", module.id.text()}, {"version_id", version.id.text()}});
    return installation;
}

Installation change_installation(Context& context, OrgTransaction& transaction, InstallationId id,
                                 const InstallationChange& change, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto installation = locked_with_module(transaction, id);
    check_version(check, installation.updated_at);
    if (!change.version_id && !change.config) return installation;
    const auto version = published_version(org, installation.module_id,
                                           change.version_id.value_or(installation.version_id));
    const Secret kept = stored_secrets(context.keys, org, id);
    auto config =
        validated_config(installation, version,
                         change.config ? change.config->text : installation.config.text, kept);
    const bool is_same = version.id == installation.version_id &&
                         rules::is_same_config(config.shown, installation.config.text) &&
                         config.secrets.reveal() == kept.reveal();
    if (is_same) return installation;
    const std::string sealed = set_config(context.keys, installation, std::move(config));
    installation.version_id = version.id;
    installation.updated_at = next_version(installation.updated_at, transaction.now);
    store::set_installation_config(org, installation, sealed);
    emit_event(transaction, rules::event_type::kInstallationChanged, installation);
    audit(transaction, "installation.changed", id.text(), {{"version_id", version.id.text()}});
    return installation;
}

RevealedInstallation reveal_installation(Context& context, OrgId organization, InstallationId id) {
    auto found = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_sealed_installation(org, id);
    });
    if (!found) throw Error(ErrorCode::NotFound);
    std::optional<Secret> secrets = Secret();
    if (!found->secrets.empty()) {
        secrets = context.keys.open(found->secrets, rules::config_seal_name(id));
    }
    if (!secrets) {
        throw Error(ErrorCode::ServiceUnavailable)
            .retry_after(60)
            .internal("the config secrets of installation " + id.text() + " cannot be decrypted");
    }
    Secret config = rules::revealed_config(found->installation.config.text, *secrets);
    return {std::move(found->installation), std::move(config)};
}

bool end_installation_error(OrgTransaction& transaction, Installation installation) {
    if (installation.status != InstallationStatus::Error) return false;
    set_enabled(transaction, installation);
    return true;
}

Installation enable_installation(OrgTransaction& transaction, InstallationId id,
                                 const VersionCheck& check) {
    auto installation = locked_with_module(transaction, id);
    check_version(check, installation.updated_at);
    if (installation.status != InstallationStatus::Enabled) set_enabled(transaction, installation);
    return installation;
}

Installation disable_installation(OrgTransaction& transaction, InstallationId id,
                                  const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto installation = lock_installation(transaction, id);
    check_version(check, installation.updated_at);
    if (installation.status == InstallationStatus::Disabled) return installation;
    installation.status = InstallationStatus::Disabled;
    installation.updated_at = next_version(installation.updated_at, transaction.now);
    if (!store::set_installation_status(org, id, installation.status, installation.updated_at)) {
        throw std::runtime_error("disabling an installation conflicted with another installation");
    }
    // Emitted after the status is written, so that its own endpoints receive no event.
    emit_event(transaction, rules::event_type::kInstallationDisabled, installation);
    store::cancel_deliveries(org, id, transaction.now, kCanceledAtOnce);
    audit(transaction, "installation.disabled", id.text());
    return installation;
}

}  // namespace muster::service
