// The installations of modules in an organization. An installation owns credentials, webhooks and
// events (specification 2.8, 3.2; docs/modules.md "Installations").
#pragma once

#include "base/secret.hpp"
#include "rules/modules/installations.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

#include <optional>
#include <vector>

namespace muster::service {

std::optional<rules::Installation> find_installation(Context& context, OrgId organization,
                                                     InstallationId id);

// Locks the row until the end of the transaction. Throws NOT_FOUND.
rules::Installation lock_installation(OrgTransaction& transaction, InstallationId id);

// Throws INVALID_STATE if the installation is disabled.
void reject_disabled(const rules::Installation& installation);

// At most `limit` installations with an id greater than `after`, ordered by id.
std::vector<rules::Installation> list_installations(Context& context, OrgId organization,
                                                    std::optional<InstallationId> after, int limit);

struct NewInstallation {
    ModuleId module_id;
    std::optional<VersionId> version_id;  // nullopt: the module's current version
    std::optional<RawJson> config;        // a JSON object; nullopt: {}
};

// Installs a module, enabled, and emits an event. Throws NOT_FOUND if the organization does not own
// the module or the version is not of this module, INVALID_STATE for a draft version or a
// deprecated or never published module, CONFLICT (details.field) while another installation of the
// module is not disabled, VALIDATION_ERROR with all faults of the config.
rules::Installation install_module(Context& context, OrgTransaction& transaction,
                                   const NewInstallation& in);

// An absent field is not changed. A new config replaces the whole old one.
struct InstallationChange {
    std::optional<VersionId> version_id;
    std::optional<RawJson> config;
};

// Changes an installation and emits an event, unless the version and the config are already the
// same. The config, new or old, must be valid for the resulting version. Throws NOT_FOUND,
// INVALID_STATE for a draft version, VALIDATION_ERROR.
rules::Installation change_installation(Context& context, OrgTransaction& transaction,
                                        InstallationId id, const InstallationChange& change,
                                        const VersionCheck& check = {});

// Ends the status error of an installation that the transaction has locked, and emits an event.
// Changes nothing in another status. Returns whether it did.
bool end_installation_error(OrgTransaction& transaction, rules::Installation installation);

// An installation with its whole config, for the module's own backend.
struct RevealedInstallation {
    rules::Installation installation;
    Secret config;  // JSON, with the secret values
};
// Throws NOT_FOUND, and SERVICE_UNAVAILABLE if the secrets cannot be decrypted.
RevealedInstallation reveal_installation(Context& context, OrgId organization, InstallationId id);

// Enables a disabled or failing installation and emits an event, also to its own endpoints. An
// enabled installation is not changed. Throws NOT_FOUND, and CONFLICT (details.field) while another
// installation of the module is not disabled.
rules::Installation enable_installation(OrgTransaction& transaction, InstallationId id,
                                        const VersionCheck& check = {});

// Disables an installation and emits an event to other installations. Its credentials and webhooks
// stop working at once; its pending deliveries are canceled. A disabled installation is not
// changed. Throws NOT_FOUND.
rules::Installation disable_installation(OrgTransaction& transaction, InstallationId id,
                                         const VersionCheck& check = {});

}  // namespace muster::service
