// Serves /v1/session…: the session of the admin who asks (docs/api.md "Admin sign-in",
// specification 5.5). How it comes to be is in auth.cpp.
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
    json::required("organizationId", &ActiveOrganization::id, json::Uuid<OrgId>{}));

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
        "SessionAdmin", field<&api::ShownAdmin::id>("id"), field<&api::ShownAdmin::email>("email"));
    static void write(JsonWriter& to, const api::ShownAdmin& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

namespace muster::api {
namespace {

constexpr auto kSession = record<ShownSession>(
    "Session", field<&ShownSession::admin>("admin"), field<&ShownSession::two_factor>("two_factor"),
    field<&ShownSession::active_organization_id>("active_organization_id"),
    field<&ShownSession::seats>("seats"), field<&ShownSession::expires_at>("expires_at"));

struct ActiveReply {
    OrgId active_organization_id;
};
constexpr auto kActiveReply = record<ActiveReply>(
    "ActiveOrganization", field<&ActiveReply::active_organization_id>("active_organization_id"));

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

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/session",
             .operation = "getSession",
             .summary = "Who is signed in, and where",
             .access = Access::Session,
             .reply = {200, "The session."},
             .handler = answers<kSession, get_session>},
    Endpoint{.method = Method::Delete,
             .path = "/v1/session",
             .operation = "deleteSession",
             .summary = "Sign out: the token is dead at once",
             .access = Access::Session,
             .reply = {204, "Signed out."},
             .handler = answers_nothing<delete_session>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/session/active-organization",
        .operation = "setActiveOrganization",
        .summary = "Act on another of the admin's organizations from now on",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewActiveOrganization",
        .body_schema = schema_of<kActiveOrganization>,
        .body_example = R"({"organizationId": "01890a5d-ac96-774b-bcce-b302099a8057"})",
        .reply = {200, "The session acts on it."},
        .errors = kActiveErrors,
        .handler = decoded<kActiveOrganization, answers<kActiveReply, set_active_organization>>},
};
static_assert(well_formed(kEndpoints, "/v1/session"));

}  // namespace

std::span<const Endpoint> session_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
