// Serves /v1/session…: the session of the calling admin (docs/api/sign-in.md "Admin sign-in",
// specification 5.5). sign_in.cpp creates it.
#include "api/access/session_record.hpp"
#include "api/access/signed_out.hpp"
#include "api/groups.hpp"
#include "service/access/seats.hpp"
#include "service/access/sessions.hpp"
#include "service/access/team.hpp"
#include "service/access/two_factor.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::ListedSession;

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
struct OwnTwoFactor {
    bool enrolled = false;
    bool verified = false;
    std::optional<std::int64_t> backup_codes_left;
};
struct ShownSession {
    ShownAdmin admin;
    OwnTwoFactor two_factor;
    OrgId active_organization_id;
    std::vector<rules::Seat> seats;
    std::vector<rules::Offer> invitations;
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

template <>
struct muster::JsonType<muster::api::OwnTwoFactor> {
    using Own = muster::api::OwnTwoFactor;
    static constexpr auto kRecord = record<Own>(
        "SessionTwoFactor",
        field<&Own::enrolled>("enrolled", "Whether the admin has an authenticator."),
        field<&Own::verified>("verified", "Whether the second factor of this session is verified."),
        field<&Own::backup_codes_left>(
            "backup_codes_left",
            "Number of unused backup codes; null before the second factor is verified.", "8"));
    static void write(JsonWriter& to, const Own& value) { kRecord.write(to, value); }
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
    field<&ShownSession::invitations>(
        "invitations",
        "Valid invitations of the admin's address, the next to expire first, 20 at most. Empty "
        "before the second factor is verified."),
    field<&ShownSession::expires_at>(
        "expires_at", "Latest end of the session. It also ends 12 hours after its last request."));

struct ActiveReply {
    OrgId active_organization_id;
};
constexpr auto kActiveReply = record<ActiveReply>(
    "ActiveOrganization",
    field<&ActiveReply::active_organization_id>(
        "active_organization_id", "Id of the organization that the session now acts on."));

// A session as a reply shows it.
struct ShownListed {
    ListedSession session;
    Timestamp idle_expires_at;
    bool is_verified = false;
    bool is_current = false;
};

constexpr auto kListedSession = record<ShownListed>(
    "ListedSession", field<&ShownListed::session, &ListedSession::id>("id", "Id of the session."),
    field<&ShownListed::is_current>("is_current", "Whether this session sent the request."),
    field<&ShownListed::is_verified>("is_verified",
                                     "Whether the second factor of the session is verified."),
    RecordField<ShownListed>{
        "user_agent",
        "Program that signed in, as it describes itself, cut after 200 bytes; null if it did not.",
        [](JsonWriter& to, const ShownListed& shown) {
            JsonType<std::optional<std::string>>::write(to, shown.session.client.user_agent);
        },
        JsonType<std::optional<std::string>>::schema, "Mozilla/5.0 (X11; Linux x86_64)"},
    RecordField<ShownListed>{
        "country",
        "Country of the address that signed in (ISO 3166); null if the installation does not look "
        "it up.",
        [](JsonWriter& to, const ShownListed& shown) {
            JsonType<std::optional<std::string>>::write(to, shown.session.client.country);
        },
        JsonType<std::optional<std::string>>::schema, "GB"},
    field<&ShownListed::session, &ListedSession::created_at>("created_at", "Time of the sign-in."),
    field<&ShownListed::session, &ListedSession::last_used_at>(
        "last_used_at", "Time of the last request, exact to the minute."),
    field<&ShownListed::idle_expires_at>("idle_expires_at",
                                         "End of the session if it is not used before."),
    field<&ShownListed::session, &ListedSession::expires_at>("expires_at",
                                                             "Latest end of the session."));
constexpr auto kListedSessions = list_of<kListedSession>("SessionList", "sessions");

struct Ended {
    std::int64_t ended_count = 0;
};
constexpr auto kEnded =
    record<Ended>("EndedSessions",
                  field<&Ended::ended_count>("ended_count", "Number of sessions that ended.", "2"));

// ---------------------------------------------------------------------------- handlers

auto get_session(Call& call) {
    const rules::Session& session = call.session();
    OwnTwoFactor two_factor{session.is_enrolled, session.verified_at.has_value(), {}};
    std::vector<rules::Offer> invitations;
    if (two_factor.verified) {
        invitations = service::list_offers(call.context, session);
        two_factor.backup_codes_left = service::count_backup_codes(call.context, session.admin_id);
    }
    return ShownSession{{session.admin_id, session.email},
                        two_factor,
                        session.active_organization_id,
                        service::seats_of(call.context, session.admin_id),
                        std::move(invitations),
                        session.expires_at};
}

Answer<ActiveReply> set_active_organization(Call& call, const ActiveOrganization& in) {
    if (!service::set_active_organization(call.context, call.session(), in.id,
                                          call.request.request_id)) {
        throw Error(ErrorCode::NotFound);
    }
    return {.value = {in.id}, .headers = {{"X-Active-Organization", in.id.text()}}};
}

std::vector<http::Header> delete_session(Call& call) {
    service::close_session(call.context, call.session());
    return signed_out(call);
}

ShownListed shown_session(const Call& call, ListedSession session) {
    const bool is_verified = session.verified_at.has_value();
    const Timestamp idle_end = service::idle_end(session);
    const bool is_current = session.id == call.session().id;
    return {std::move(session), idle_end, is_verified, is_current};
}

auto list_sessions(Call& call) {
    auto listed =
        service::list_sessions(call.context, call.session().admin_id, call.cursor_id<SessionId>(),
                               call.query.integer("limit") + 1);
    std::vector<ShownListed> shown;
    shown.reserve(listed.size());
    for (ListedSession& session : listed) shown.push_back(shown_session(call, std::move(session)));
    return page_of(call, std::move(shown),
                   [](const ShownListed& last) { return last.session.id.bytes(); });
}

ShownListed get_listed_session(Call& call) {
    auto found = service::find_session(call.context, call.session().admin_id, call.id<SessionId>());
    if (!found) throw Error(ErrorCode::NotFound);
    return shown_session(call, std::move(*found));
}

std::vector<http::Header> end_session(Call& call) {
    const auto id = call.id<SessionId>();
    if (!service::end_session(call.context, call.session(), id, call.request.request_id)) {
        throw Error(ErrorCode::NotFound);
    }
    return id == call.session().id ? signed_out(call) : std::vector<http::Header>();
}

auto end_other_sessions(Call& call) {
    return Ended{
        service::end_other_sessions(call.context, call.session(), call.request.request_id)};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kActiveErrors = {ErrorCode::NotFound, ErrorCode::RateLimited};
constexpr std::array kSessionListQuery = {page_limit(), kPageCursor};

constexpr std::array kSessionEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/session",
             .operation = "getSession",
             .summary = "Get the signed-in admin and the active organization",
             .description =
                 "Returns the signed-in admin, the state of the second factor, the seats, the "
                 "invitations and the active organization. It works before the second factor.",
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
            "other requests to guard against a change in another window. An admin switches to an "
            "organization at most 50 times within 24 hours; then the reply is 429. Requests with "
            "X-Organization need no switch.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewActiveOrganization",
        .body_schema = schema_of<kActiveOrganization>,
        .body_example = R"({"organizationId": "01890a5d-ac96-774b-bcce-b302099a8057"})",
        .reply = {200, "The session's new active organization."},
        .errors = kActiveErrors,
        .handler = decoded<kActiveOrganization, answers<kActiveReply, set_active_organization>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/sessions",
        .operation = "listSessions",
        .summary = "List the admin's sessions",
        .description =
            "Lists the sessions of the signed-in admin that have not ended, the newest first. End "
            "one that you do not recognize, then replace the authenticator.",
        .access = Access::VerifiedSession,
        .query = kSessionListQuery,
        .reply = {200, "A page of sessions."},
        .handler = answers<kListedSessions, list_sessions>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/sessions",
        .operation = "endOtherSessions",
        .summary = "End all other sessions of the admin",
        .description =
            "Ends all sessions of the signed-in admin except the calling one, from their next "
            "request on. Use it when a device is lost, or after the authenticator was replaced.",
        .access = Access::VerifiedSession,
        .reply = {200, "The number of ended sessions."},
        .handler = answers<kEnded, end_other_sessions>},
    Endpoint{.method = Method::Get,
             .path = "/v1/sessions/{id}",
             .operation = "getListedSession",
             .summary = "Get one of the admin's sessions",
             .description =
                 "Returns one session of the signed-in admin. A session that has ended, or of "
                 "another admin, is 404.",
             .access = Access::VerifiedSession,
             .reply = {200, "The session."},
             .handler = answers<kListedSession, get_listed_session>},
    Endpoint{.method = Method::Delete,
             .path = "/v1/sessions/{id}",
             .operation = "endSession",
             .summary = "End one of the admin's sessions",
             .description =
                 "Ends a session of the signed-in admin from its next request on. The calling "
                 "session may end itself; that is a sign-out. A session that has ended, or of "
                 "another admin, is 404.",
             .access = Access::VerifiedSession,
             .reply = {204, "The session has ended."},
             .handler = answers_nothing<end_session>},
};
static_assert(well_formed(kSessionEndpoints, "/v1/session"));

}  // namespace

std::span<const Endpoint> session_endpoints() {
    return kSessionEndpoints;
}

}  // namespace muster::api
