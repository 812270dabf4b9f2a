// Serves /v1/session…: the session of the calling admin (docs/api/sign-in.md "Admin sign-in",
// specification 5.5). sign_in.cpp creates it.
#include "api/access/session_record.hpp"
#include "api/groups.hpp"
#include "service/access/sessions.hpp"

namespace muster::api {
namespace {

using http::Method;

struct ActiveOrganization {
    OrgId id;
};
constexpr auto kActiveOrganization = json::object<ActiveOrganization>(
    json::required("organizationId", &ActiveOrganization::id, json::Uuid<OrgId>{},
                   "Id of the organization to act on. The admin must have a seat in it."));

struct ShownAdmin {
    AdminId id;
    std::string email;
};
struct ShownSession {
    ShownAdmin admin;
    TwoFactor two_factor;
    OrgId active_organization_id;
    std::vector<rules::Seat> seats;
    Timestamp expires_at;
};

}  // namespace
}  // namespace muster::api

template <>
struct muster::JsonType<muster::api::ShownAdmin> {
    static constexpr auto kRecord = record<api::ShownAdmin>(
        "SessionAdmin", field<&api::ShownAdmin::id>("id", "Id of the admin."),
        field<&api::ShownAdmin::email>("email", "Email address that the admin signs in with.",
                                       "ada@example.org"));
    static void write(JsonWriter& to, const api::ShownAdmin& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

namespace muster::api {
namespace {

constexpr auto kSession = record<ShownSession>(
    "Session", field<&ShownSession::admin>("admin", "The signed-in admin."),
    field<&ShownSession::two_factor>("two_factor", "State of the second factor."),
    field<&ShownSession::active_organization_id>(
        "active_organization_id", "Id of the organization that the session acts on."),
    field<&ShownSession::seats>("seats", "The admin's seats, in the order of their creation."),
    field<&ShownSession::expires_at>(
        "expires_at", "Latest end of the session. It also ends 12 hours after its last request."));

struct ActiveReply {
    OrgId active_organization_id;
};
constexpr auto kActiveReply = record<ActiveReply>(
    "ActiveOrganization",
    field<&ActiveReply::active_organization_id>(
        "active_organization_id", "Id of the organization that the session now acts on."));

// ---------------------------------------------------------------------------- handlers

auto get_session(Call& call) {
    const rules::Session& session = call.session();
    return ShownSession{{session.admin_id, session.email},
                        {session.is_enrolled, session.verified_at.has_value()},
                        session.active_organization_id,
                        service::seats_of(call.context, session.admin_id),
                        session.expires_at};
}

Answer<ActiveReply> set_active_organization(Call& call, const ActiveOrganization& in) {
    if (!service::set_active_organization(call.context, call.session(), in.id,
                                          call.request.request_id)) {
        throw Error(ErrorCode::NotFound);
    }
    return {.value = {in.id}, .headers = {{"X-Active-Organization", in.id.text()}}};
}

void delete_session(Call& call) {
    service::close_session(call.context, call.session());
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kActiveErrors = {ErrorCode::NotFound};

constexpr std::array kSessionEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/session",
             .operation = "getSession",
             .summary = "Get the signed-in admin and the active organization",
             .description =
                 "Returns the signed-in admin, the state of the second factor, the seats and the "
                 "active organization. It works before the second factor.",
             .access = Access::Session,
             .reply = {200, "The session."},
             .handler = answers<kSession, get_session>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/session",
        .operation = "deleteSession",
        .summary = "Sign out",
        .description =
            "Ends the session. The token is invalid from the next request on. Other sessions of "
            "the admin continue.",
        .access = Access::Session,
        .reply = {204, "Signed out."},
        .handler = answers_nothing<delete_session>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/session/active-organization",
        .operation = "setActiveOrganization",
        .summary = "Switch to another of the admin's organizations",
        .description =
            "Makes the session act on another organization in which the admin has a seat. "
            "X-Active-Organization confirms it on each reply. Send X-Expect-Organization with "
            "other requests to guard against a change in another window.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewActiveOrganization",
        .body_schema = schema_of<kActiveOrganization>,
        .body_example = R"({"organizationId": "01890a5d-ac96-774b-bcce-b302099a8057"})",
        .reply = {200, "The session's new active organization."},
        .errors = kActiveErrors,
        .handler = decoded<kActiveOrganization, answers<kActiveReply, set_active_organization>>},
};
static_assert(well_formed(kSessionEndpoints, "/v1/session"));

}  // namespace

std::span<const Endpoint> session_endpoints() {
    return kSessionEndpoints;
}

}  // namespace muster::api
