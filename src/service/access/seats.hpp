// Look-ups of the seats of an admin (docs/api/sign-in.md "Admin sign-in"). team.hpp has the changes
// of seats.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace muster::rules {
enum class Role : std::uint8_t;  // rules/access/roles.hpp
struct Seat;                     // rules/access/admins.hpp
}  // namespace muster::rules

namespace muster::service {

// The admin's seats in organizations that are not disabled, the earliest first.
std::vector<rules::Seat> seats_of(Context& context, AdminId admin);
// The role of the admin's seat in the organization, or nullopt if there is no such seat.
std::optional<rules::Role> role_in(Context& context, AdminId admin, OrgId organization);

// The organizations of the seats, in their order.
std::vector<OrgId> organizations_of(std::span<const rules::Seat> seats);
// In the order of their ids. A transaction that locks records of several organizations, or writes
// to their audit logs, does it in this order: otherwise two transactions wait for each other.
std::vector<OrgId> sorted_organizations_of(std::span<const rules::Seat> seats);

}  // namespace muster::service
