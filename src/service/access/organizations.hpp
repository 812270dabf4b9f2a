// Organizations and their admins' seats: what the operator's tool manages.
#pragma once

#include "rules/access/organizations.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct SeatHolder;
}

namespace muster::service {

// With the starter attributes, disabled. Throws std::invalid_argument for a name that is empty or
// too long.
rules::Organization create_organization(Context& context, std::string_view name);
std::vector<rules::Organization> list_organizations(Context& context);
// Throws std::invalid_argument when there is none of that id.
void require_organization(Context& context, OrgId organization);

// Trimmed. Throws std::invalid_argument with a sentence unless it has 1 to 255 characters.
std::string checked_name(std::string_view name);

// Trimmed and lower-case. Throws std::invalid_argument for what is no address of mail.
std::string checked_address(std::string_view email);

struct AddedAdmin {
    AdminId id;
    bool is_new_seat = false;
};
// A seat for the admin of that address, who is made if need be. Throws std::invalid_argument for a
// bad address.
AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role);
// Earliest seat first.
std::vector<rules::SeatHolder> list_admins(Context& context, OrgId organization);
// Takes the seat away: sessions that act on the organization may do nothing there from the next
// request on. The admin stays, with the seats elsewhere. False when there was no such seat. Throws
// std::invalid_argument for a bad address.
bool remove_admin(Context& context, OrgId organization, std::string_view email);

}  // namespace muster::service
