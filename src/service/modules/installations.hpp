// A module's installations in an organization: what its credentials, webhooks and events hang on
// (specification 2.8, 3.2; docs/modules.md "Installations").
#pragma once

#include "rules/modules/installations.hpp"
#include "service/context.hpp"

#include <optional>
#include <vector>

namespace muster::service {

std::optional<rules::Installation> find_installation(Context& context, OrgId organization,
                                                     InstallationId id);

// Locked until the transaction ends. Throws NOT_FOUND.
rules::Installation lock_installation(OrgTransaction& transaction, InstallationId id);

// By id behind `after`, at most `limit`.
std::vector<rules::Installation> list_installations(Context& context, OrgId organization,
                                                    std::optional<InstallationId> after, int limit);

struct NewInstallation {
    ModuleId module_id;
    std::optional<VersionId> version_id;  // nullopt: the module's current one
    std::optional<RawJson> config;        // an object; nullopt: empty
};

// Enabled, and told to webhooks. Throws NOT_FOUND for what is not the organization's own module and
// a version of it, INVALID_STATE for a draft or a deprecated module, CONFLICT (details.field) while
// another installation of it is not disabled, VALIDATION_ERROR with every fault of the config.
rules::Installation install_module(Context& context, OrgTransaction& transaction,
                                   const NewInstallation& in);

// What is given changes. A config takes the place of the whole old one.
struct InstallationChange {
    std::optional<VersionId> version_id;
    std::optional<RawJson> config;
};

// The config, the old one too, must suit the version that the installation will have. Throws
// NOT_FOUND, INVALID_STATE for a draft, VALIDATION_ERROR.
rules::Installation change_installation(Context& context, OrgTransaction& transaction,
                                        InstallationId id, const InstallationChange& change);

// From disabled or error; tells webhooks, its own too. An enabled one stays as it is. Throws
// NOT_FOUND, and CONFLICT (details.field) while another installation of the module is not disabled.
rules::Installation enable_installation(OrgTransaction& transaction, InstallationId id);

// Its credentials and webhooks stop at once, and what is on its way to them is canceled; other
// installations are told. A disabled one stays as it is. Throws NOT_FOUND.
rules::Installation disable_installation(OrgTransaction& transaction, InstallationId id);

}  // namespace muster::service
