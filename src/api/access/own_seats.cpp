// Serves /v1/session/invitations/… and /v1/session/seats/…: what the signed-in admin decides about
// their own seats (docs/api/team.md).
#include "api/access/session_record.hpp"
#include "api/access/signed_out.hpp"
#include "api/groups.hpp"
#include "service/access/team.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::InvitationId;

constexpr auto kSeat = JsonType<rules::Seat>::kRecord;

// ---------------------------------------------------------------------------- handlers

auto accept_invitation(Call& call, const Nothing&) {
    return service::accept_offer(call.context, call.session(), call.id<InvitationId>(),
                                 call.request.request_id);
}

void decline_invitation(Call& call, const Nothing&) {
    service::decline_offer(call.context, call.session(), call.id<InvitationId>(),
                           call.request.request_id);
}

std::vector<http::Header> leave_organization(Call& call, const Nothing&) {
    const bool has_ended = service::leave_organization(call.context, call.session(),
                                                       call.id<OrgId>(), call.request.request_id);
    return has_ended ? signed_out(call) : std::vector<http::Header>();
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kLeaveErrors = {ErrorCode::InvalidState};

constexpr std::array kOwnSeatEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/session/invitations/{invitationId}/accept",
        .operation = "acceptInvitation",
        .summary = "Accept an invitation",
        .description =
            "Gives the signed-in admin the seat of an invitation in the list of GET /v1/session. "
            "An invitation to another address, and one that is no longer valid, is 404.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {200, "The new seat."},
        .handler = decoded<kNothing, answers<kSeat, accept_invitation>>,
        .changes_access = true},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/session/invitations/{invitationId}/decline",
        .operation = "declineInvitation",
        .summary = "Decline an invitation",
        .description =
            "Deletes an invitation in the list of GET /v1/session. The audit log of the inviting "
            "organization shows it. An invitation to another address is 404.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {204, "Declined."},
        .handler = decoded<kNothing, answers_nothing<decline_invitation>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/session/seats/{organizationId}/leave",
        .operation = "leaveOrganization",
        .summary = "Leave an organization",
        .description =
            "Removes the signed-in admin's own seat, whatever its role. The admin's sessions end "
            "if it was the last seat. The last owner cannot leave: 409 INVALID_STATE. A disabled "
            "organization is 404.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {204, "The seat is removed."},
        .errors = kLeaveErrors,
        .handler = decoded<kNothing, answers_nothing<leave_organization>>,
        .changes_access = true},
};
static_assert(well_formed(kOwnSeatEndpoints, "/v1/session"));

}  // namespace

std::span<const Endpoint> own_seat_endpoints() {
    return kOwnSeatEndpoints;
}

}  // namespace muster::api
