// Organizations and the seats of their admins, for `musterctl`.
#pragma once

#include "rules/access/organizations.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct SeatHolder;
}

namespace muster::service {

enum class StarterAttributes : std::uint8_t { Enabled, Disabled };

// Creates an organization with the starter attributes. Throws std::invalid_argument if the name is
// empty or too long.
rules::Organization create_organization(Context& context, std::string_view name,
                                        StarterAttributes starters = StarterAttributes::Enabled);
std::vector<rules::Organization> list_organizations(Context& context);
// The ids of the organizations of exactly this name, at most ten; names are not unique.
std::vector<OrgId> organizations_named(Context& context, std::string_view name);
// Throws std::invalid_argument if the organization does not exist.
void require_organization(Context& context, OrgId organization);

// The trimmed name. Throws std::invalid_argument unless it has 1 to 255 characters.
std::string checked_name(std::string_view name);

// The address, trimmed and in lower case. Throws std::invalid_argument if it is not an email
// address.
std::string checked_address(std::string_view email);

struct AddedAdmin {
    AdminId id;
    bool is_new_seat = false;
};
// Gives the admin with this address a seat, and mails the owners. Creates the admin if necessary.
// Throws std::invalid_argument if the address is invalid.
AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role);
// Ordered by the creation of the seat.
std::vector<rules::SeatHolder> list_admins(Context& context, OrgId organization);
// Removes the admin's seat. The admin's sessions lose access to the organization with the next
// request. The admin and their other seats remain. Returns false if there was no such seat. Throws
// std::invalid_argument if the address is invalid.
bool remove_admin(Context& context, OrgId organization, std::string_view email);

}  // namespace muster::service
