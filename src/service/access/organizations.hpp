// Organizations, for `musterctl`.
#pragma once

#include "rules/access/organizations.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

enum class StarterAttributes : std::uint8_t { Enabled, Disabled };

// Creates an organization with the starter attributes. Throws std::invalid_argument for a name that
// checked_name() rejects.
rules::Organization create_organization(Context& context, std::string_view name,
                                        StarterAttributes starters = StarterAttributes::Enabled);
// Called under the lock with the organization before the change; may throw.
using OrganizationCheck = std::function<void(const rules::Organization&)>;
// Renames it, if the name differs, and returns it. Throws NOT_FOUND, and std::invalid_argument for
// a name that checked_name() rejects.
rules::Organization rename_organization(OrgTransaction& transaction, std::string_view name,
                                        const OrganizationCheck& check);
// The same for the operator.
rules::Organization rename_organization(Context& context, OrgId organization,
                                        std::string_view name);
std::optional<rules::Organization> find_organization(Context& context, OrgId organization);
std::vector<rules::Organization> list_organizations(Context& context);
// The organizations of exactly this name, at most ten; names are not unique.
std::vector<rules::Organization> organizations_named(Context& context, std::string_view name);
// Throws std::invalid_argument if the organization does not exist.
void require_organization(Context& context, OrgId organization);

// The trimmed name of an organization or key, label or choice. Throws std::invalid_argument, with
// the fault, unless it is UTF-8 and has 1 to 255 characters and no control character.
std::string checked_name(std::string_view name);

// The address, trimmed and in lower case. Throws std::invalid_argument if it is not an email
// address.
std::string checked_address(std::string_view email);

}  // namespace muster::service
