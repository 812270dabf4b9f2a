// A module's installations in an organization: what its credentials, webhooks and events hang on
// (specification 2.8, 3.2; docs/api.md "Installations").
#pragma once

#include "rules/records.hpp"
#include "service/context.hpp"

#include <optional>
#include <vector>

namespace muster::service {

std::optional<rules::Installation> find_installation(Context& context, OrgId organization,
                                                     InstallationId id);

// Locked until the transaction ends. Throws NOT_FOUND.
rules::Installation lock_installation(Unit& unit, InstallationId id);

// By id behind `after`, at most `limit`.
std::vector<rules::Installation> list_installations(Context& context, OrgId organization,
                                                    std::optional<InstallationId> after, int limit);

}  // namespace muster::service
