// Installations of modules. Secret values of a config are stored sealed.
#pragma once

#include "db/transaction.hpp"
#include "rules/modules/installations.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// `sealed_secrets`: "" = none. False if the module already has a live installation.
[[nodiscard]] bool insert_installation(db::OrgStore& org, const rules::Installation& installation,
                                       std::string_view sealed_secrets);
std::optional<rules::Installation> find_installation(db::OrgStore& org, InstallationId id);
struct SealedInstallation {
    rules::Installation installation;
    std::string secrets;  // sealed; "" = none
};
// The installation and its secrets at one moment.
std::optional<SealedInstallation> find_sealed_installation(db::OrgStore& org, InstallationId id);
// Locked until the transaction ends.
std::optional<rules::Installation> lock_installation(db::OrgStore& org, InstallationId id);
// Ordered by id, after `after`.
std::vector<rules::Installation> page_installations(db::OrgStore& org, InstallationId after,
                                                    int limit);
// Sealed; "" = none.
std::string find_config_secrets(db::OrgStore& org, InstallationId id);
// Writes version, config, secrets and updated_at.
void set_installation_config(db::OrgStore& org, const rules::Installation& installation,
                             std::string_view sealed_secrets);
// False if the module has another live installation.
[[nodiscard]] bool set_installation_status(db::OrgStore& org, InstallationId id,
                                           rules::InstallationStatus status, Timestamp now);

}  // namespace muster::store
