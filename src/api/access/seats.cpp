// Serves /v1/seats… and /v1/invitations…: the team of the organization (docs/api/team.md).
#include "api/groups.hpp"
#include "rules/access/roles.hpp"
#include "service/access/team.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::InvitationId;
using rules::TeamSeat;
using service::NewSeat;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr auto kNewSeat = json::object<NewSeat>(
    json::required("email", &NewSeat::email, json::Email{},
                   "Mail address of the person. The invitation can only be accepted with it.",
                   "grace@example.org"),
    json::required("role", &NewSeat::role, json::Choice<rules::Role>{}, rules::kRoleMeaning));

struct NewRole {
    rules::Role role = {};
};
constexpr auto kNewRole = json::object<NewRole>(
    json::required("role", &NewRole::role, json::Choice<rules::Role>{}, rules::kRoleMeaning));

// ---------------------------------------------------------------------------- replies

constexpr auto kTeamSeat = record<TeamSeat>(
    "TeamSeat",
    field<&TeamSeat::status>("status",
                             "active: a seat; invited: an invitation; expired: an invitation that "
                             "is no longer valid but can be sent again."),
    field<&TeamSeat::admin_id>("admin_id", "Id of the admin; null for an invitation."),
    field<&TeamSeat::invitation_id>("invitation_id", "Id of the invitation; null for a seat."),
    field<&TeamSeat::email>("email", "Mail address that the person signs in with.",
                            "grace@example.org"),
    field<&TeamSeat::role>("role", rules::kRoleMeaning),
    field<&TeamSeat::is_enrolled>(
        "two_factor_enrolled",
        "Whether the admin has an authenticator; always false for an invitation."),
    field<&TeamSeat::created_at>("created_at", "Time of the seat, or of the invitation."),
    field<&TeamSeat::invited_by>("invited_by",
                                 "Id of the owner who sent the invitation; null for a seat, or if "
                                 "the operator sent it."),
    field<&TeamSeat::invited_by_email>("invited_by_email",
                                       "Mail address of that owner; null in the same cases.",
                                       "ada@example.org"),
    field<&TeamSeat::sent_at>("sent_at", "Time of the invitation's newest mail; null for a seat."),
    field<&TeamSeat::expires_at>("expires_at",
                                 "Time when the invitation is no longer valid; null for a seat."));

constexpr auto kTeamSeatList = list_of<kTeamSeat>("TeamSeatList", "seats");

// ---------------------------------------------------------------------------- handlers

// A page continues after a seat ('s' and the admin's id) or an invitation ('i' and its id).
std::string position_of(const TeamSeat& seat) {
    return seat.admin_id ? "s" + std::string(seat.admin_id->bytes())
                         : "i" + std::string(seat.invitation_id.value().bytes());
}

std::optional<service::TeamPosition> team_position(const Call& call) {
    const auto position = call.cursor_position();
    if (!position || position->empty()) return std::nullopt;
    const auto uuid = Uuid::from_bytes(std::string_view(*position).substr(1));
    if (!uuid) return std::nullopt;
    if (position->front() == 's') return AdminId(*uuid);
    return InvitationId(*uuid);
}

auto list_seats(Call& call) {
    auto team = service::page_team(call.context, call.org(), team_position(call),
                                   call.query.integer("limit") + 1);
    return page_of(call, std::move(team), position_of);
}

auto get_seat(Call& call) {
    return service::find_seat(call.context, call.org(), call.id<AdminId>());
}

auto get_invitation(Call& call) {
    return service::find_invitation(call.context, call.org(), call.id<InvitationId>());
}

Answer<TeamSeat> create_invitation(Call& call, OrgTransaction& transaction, const NewSeat& in) {
    TeamSeat seat = service::invite_admin(call.context, transaction, in);
    std::string location = "/v1/invitations/" + seat.invitation_id.value().text();
    return {std::move(seat), std::move(location)};
}

auto change_seat(Call& call, OrgTransaction& transaction, const NewRole& in) {
    return service::change_role(call.context, transaction, call.id<AdminId>(), in.role);
}

void remove_seat(Call& call, OrgTransaction& transaction) {
    service::remove_seat(call.context, transaction, call.id<AdminId>());
}

auto resend_invitation(Call& call, OrgTransaction& transaction, const Nothing&) {
    return service::resend_invitation(call.context, transaction, call.id<InvitationId>());
}

void withdraw_invitation(Call& call, OrgTransaction& transaction) {
    service::withdraw_invitation(transaction, call.id<InvitationId>());
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kSeatListQuery = {page_limit(), kPageCursor};
constexpr std::array kInviteErrors = {ErrorCode::InvalidState, ErrorCode::RateLimited};
constexpr std::array kSeatErrors = {ErrorCode::InvalidState};
constexpr std::array kResendErrors = {ErrorCode::RateLimited};

constexpr std::array kSeatEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/seats",
             .operation = "listSeats",
             .summary = "List the organization's team",
             .description =
                 "Lists the admins of the organization with their roles, then the invitations, the "
                 "oldest first. Expired invitations are listed for 30 days.",
             .access = Access::Admin,
             .query = kSeatListQuery,
             .reply = {200, "A page of seats and invitations."},
             .handler = answers<kTeamSeatList, list_seats>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/seats",
        .operation = "createInvitation",
        .summary = "Invite a person to the team",
        .description =
            "Mails an invitation that is valid for 7 days. The person accepts it by signing in "
            "with the address, or in a session if they have a seat elsewhere. Only owners invite. "
            "An address with a seat or a valid invitation is 409 CONFLICT, a full team 409 "
            "INVALID_STATE. An organization sends at most 50 such mails a day, and 3 to one "
            "address.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewSeat",
        .body_schema = schema_of<kNewSeat>,
        .body_example = R"({"email": "grace@example.org", "role": "admin"})",
        .reply = {201, "The invitation."},
        .errors = kInviteErrors,
        .handler = decoded<kNewSeat, answers<kTeamSeat, create_invitation>>,
        .changes_access = true},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/seats/{adminId}",
        .operation = "getSeat",
        .summary = "Get the seat of an admin",
        .description =
            "Returns the seat of one admin in the organization. An admin without a seat is 404, "
            "whether or not the admin exists.",
        .access = Access::Admin,
        .reply = {200, "The seat."},
        .handler = answers<kTeamSeat, get_seat>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/seats/{adminId}",
        .operation = "changeSeat",
        .summary = "Change an admin's role",
        .description =
            "Changes the role of an admin in the organization, from the admin's next request on. "
            "Only owners change roles, including their own. An organization keeps at least one "
            "owner: taking the last one's role is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewRole",
        .body_schema = schema_of<kNewRole>,
        .body_example = R"({"role": "viewer"})",
        .reply = {200, "The seat with its new role."},
        .errors = kSeatErrors,
        .handler = decoded<kNewRole, answers<kTeamSeat, change_seat>>,
        .changes_access = true},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/seats/{adminId}",
        .operation = "removeSeat",
        .summary = "Remove an admin from the team",
        .description =
            "Removes the seat. The admin's sessions lose the organization with the next request, "
            "and end if it was the last seat. Keys that the admin issued stay valid. Removing the "
            "last owner is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .reply = {204, "Removed."},
        .errors = kSeatErrors,
        .handler = answers_nothing<remove_seat>,
        .changes_access = true},
};
static_assert(well_formed(kSeatEndpoints, "/v1/seats"));

constexpr std::array kInvitationEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/invitations/{invitationId}",
        .operation = "getInvitation",
        .summary = "Get an invitation",
        .description =
            "Returns one invitation to the team, also an expired one. An accepted or withdrawn "
            "invitation is 404.",
        .access = Access::Admin,
        .reply = {200, "The invitation."},
        .handler = answers<kTeamSeat, get_invitation>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/invitations/{invitationId}/resend",
        .operation = "resendInvitation",
        .summary = "Send an invitation again",
        .description =
            "Mails the invitation again, also an expired one. It is then valid for 7 days from now, "
            "and is the caller's. The limits of mails a day are those of a new invitation.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {200, "The invitation with its new end."},
        .errors = kResendErrors,
        .handler = decoded<kNothing, answers<kTeamSeat, resend_invitation>>,
        .changes_access = true},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/invitations/{invitationId}",
        .operation = "withdrawInvitation",
        .summary = "Withdraw an invitation",
        .description =
            "Deletes an invitation, also an expired one. The person can no longer accept it. An "
            "accepted invitation is a seat, and 404 here.",
        .access = Access::Admin,
        .role = rules::Role::Owner,
        .reply = {204, "Withdrawn."},
        .handler = answers_nothing<withdraw_invitation>},
};
static_assert(well_formed(kInvitationEndpoints, "/v1/invitations"));

}  // namespace

std::span<const Endpoint> seat_endpoints() {
    return kSeatEndpoints;
}

std::span<const Endpoint> invitation_endpoints() {
    return kInvitationEndpoints;
}

}  // namespace muster::api
