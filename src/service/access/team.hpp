// The team of an organization: its seats, and invitations to seats (docs/api/team.md). The API and
// musterctl use the same functions: an OrgTransaction without an admin is the operator's. Changes
// of a team wait for each other. An admin who changes a team must still be an owner then; otherwise
// the functions throw FORBIDDEN. Every admin may remove their own seat.
#pragma once

#include "rules/access/team.hpp"
#include "service/context.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::rules {
struct Admin;    // rules/access/admins.hpp
struct Seat;     // rules/access/admins.hpp
struct Session;  // rules/access/session.hpp
}  // namespace muster::rules

namespace muster::service {

inline constexpr std::int64_t kMostSeats = 200;       // of a team, with its invitations
inline constexpr std::int64_t kMostInvitations = 50;  // of a team, with expired ones
inline constexpr Milliseconds kInvitationLife = std::chrono::days(7);
// How long an expired invitation is listed and can be sent again.
inline constexpr Milliseconds kExpiredInvitationLife = std::chrono::days(30);

struct NewSeat {
    std::string email;  // normalized
    rules::Role role = {};
};
// Invites the person with this address by mail, whether or not they are an admin. Throws CONFLICT
// if the address has a seat or a valid invitation, INVALID_STATE if the team is full, RATE_LIMITED.
rules::TeamSeat invite_admin(Context& context, OrgTransaction& transaction, const NewSeat& seat);
// Sends the mail again; the invitation is then valid for 7 days from now. Throws NOT_FOUND,
// RATE_LIMITED.
rules::TeamSeat resend_invitation(Context& context, OrgTransaction& transaction,
                                  rules::InvitationId id);
// Throws NOT_FOUND.
void withdraw_invitation(OrgTransaction& transaction, rules::InvitationId id);

// Throws NOT_FOUND; INVALID_STATE if an admin takes the role of the last owner.
rules::TeamSeat change_role(Context& context, OrgTransaction& transaction, AdminId admin,
                            rules::Role role);
// Removes the seat. The admin's sessions lose access to the organization with the next request; if
// it was the last seat, they end. Throws NOT_FOUND; INVALID_STATE if an admin removes the last
// owner. Mails the owners and the admin, as does a change from owner to another role. Both delete
// the invitations that the admin sent and that were not accepted.
void remove_seat(Context& context, OrgTransaction& transaction, AdminId admin);

// Gives an admin without a seat the one of the next invitation to expire. A seat in a disabled
// organization counts as one. Called at the first right code of a session's second factor.
void accept_first_invitation(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                             std::string_view request_id, Timestamp now);

// ---------------------------------------------------------------------------- for the invited

inline constexpr int kMostOffers = 20;
// The valid invitations of the session's admin, the next to expire first, kMostOffers at most.
std::vector<rules::Offer> list_offers(Context& context, const rules::Session& session);
// Throw NOT_FOUND if it is not one of those.
rules::Seat accept_offer(Context& context, const rules::Session& session, rules::InvitationId id,
                         std::string_view request_id);
void decline_offer(Context& context, const rules::Session& session, rules::InvitationId id,
                   std::string_view request_id);
// Removes the admin's own seat, whatever its role, as remove_seat() does. Returns whether the
// session ended.
bool leave_organization(Context& context, const rules::Session& session, OrgId organization,
                        std::string_view request_id);

// The position of the last seat or invitation of a page.
using TeamPosition = std::variant<AdminId, rules::InvitationId>;
// Seats in the order of the admins' ids, then invitations, the oldest first.
std::vector<rules::TeamSeat> page_team(Context& context, OrgId organization,
                                       const std::optional<TeamPosition>& after, int limit);
std::optional<rules::TeamSeat> find_seat(Context& context, OrgId organization, AdminId admin);
std::optional<rules::TeamSeat> find_invitation(Context& context, OrgId organization,
                                               rules::InvitationId id);

// ---------------------------------------------------------------------------- for the operator
// These take an address and throw std::invalid_argument if it is not one.

struct AddedAdmin {
    AdminId id;
    bool is_new_seat = false;
};
// Gives the admin with this address a seat without an invitation, and mails the owners. Creates the
// admin if necessary.
AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role);
rules::TeamSeat invite_admin(Context& context, OrgId organization, std::string_view email,
                             rules::Role role);
// nullopt or false if the address has no invitation, or no seat.
std::optional<rules::TeamSeat> resend_invitation(Context& context, OrgId organization,
                                                 std::string_view email);
bool withdraw_invitation(Context& context, OrgId organization, std::string_view email);
std::optional<rules::TeamSeat> change_role(Context& context, OrgId organization,
                                           std::string_view email, rules::Role role);
bool remove_admin(Context& context, OrgId organization, std::string_view email);
std::vector<rules::TeamSeat> list_team(Context& context, OrgId organization);

}  // namespace muster::service
