// Serves /v1/users…: members of the organization, one by one (specification 3.4, docs/api.md
// "Users"). Create-or-attach itself is service/members.cpp, the same path as an import's commit.
#include "api/groups.hpp"
#include "service/members.hpp"

namespace muster::api {
namespace {

using http::field;
using http::Method;
using http::RecordField;
using http::Reply;
using rules::Member;
using service::StoredReply;
using service::Unit;

// ---------------------------------------------------------------------------- bodies

// The body is the payload itself, without a wrapper.
struct NewUserSchema {
    using Value = rules::MemberFields;
    void decode(const http::JsonIn& in, const http::Path& path, http::Decoding& to,
                Value& out) const {
        http::MemberPayload{}.decode(in, path, to, out);
    }
};
constexpr NewUserSchema kNewUser;

// ---------------------------------------------------------------------------- replies

constexpr auto kUserFields = std::array{
    field<&Member::user_id>("id"),
    field<&Member::member_id>("member_id"),
    field<&Member::organization_id>("organization_id"),
    field<&Member::email>("email"),
    field<&Member::external_id>("external_id"),
    field<&Member::first_name>("first_name"),
    field<&Member::last_name>("last_name"),
    field<&Member::display_name>("display_name"),
    field<&Member::locale>("locale"),
    field<&Member::country>("country"),
    field<&Member::dob>("dob"),
    RecordField<Member>{"attributes",
                        [](JsonWriter& to, const Member& member) {
                            to.raw(rules::attribute_values(member.attributes));
                        },
                        http::Wire<http::RawJson>::schema},
    RecordField<Member>{"roles", [](JsonWriter& to, const Member&) { to.raw(R"(["member"])"); },
                        http::Wire<std::vector<std::string>>::schema},
    field<&Member::status>("status"),
    field<&Member::locked_at>("locked_at"),
    field<&Member::lock_reason>("lock_reason"),
    field<&Member::created_at>("created_at"),
    field<&Member::updated_at>("updated_at"),
};
constexpr http::Record<Member, kUserFields.size()> kUser{"User", kUserFields};

// The user record with what the call did: "created", "attached" or "merged".
std::string created_json(const service::CreatedMember& created) {
    std::string body = http::to_json(kUser, created.member);
    body.pop_back();
    body += ",\"outcome\":";
    append_json_string(body, text_of(created.outcome));
    return body + "}";
}

Json::Value created_schema() {
    Json::Value schema = kUser.schema();
    Json::Value& outcome = schema["properties"]["outcome"];
    outcome["type"] = "string";
    for (const char* value : {"created", "attached", "merged"}) outcome["enum"].append(value);
    schema["required"].append("outcome");
    return schema;
}

// ---------------------------------------------------------------------------- handlers

Reply create_user(Call& call, const rules::MemberFields& fields) {
    return call.transact([&](Unit& unit) {
        const auto created = service::create_member(unit, fields);
        const int status = created.outcome == rules::RowState::Merged ? 200 : 201;
        return StoredReply{status, "/v1/users/" + created.member.user_id.text(),
                           created_json(created), std::nullopt};
    });
}

Reply get_user(Call& call) {
    const auto member = service::find_member(call.context, call.org(), call.id<UserId>());
    if (!member) throw Error(ErrorCode::NotFound);
    return json_reply(200, http::to_json(kUser, *member));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kCreateErrors = {
    ErrorCode::BadRequest,      ErrorCode::IdempotencyConflict,  ErrorCode::IdempotencyInProgress,
    ErrorCode::PayloadTooLarge, ErrorCode::UnsupportedMediaType, ErrorCode::ValidationError};
constexpr std::array kReadErrors = {ErrorCode::NotFound, ErrorCode::ValidationError};

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/users",
        .operation = "createUser",
        .summary = "Create a user and member, or attach a user, or fill a member's gaps",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "MemberPayload",
        .body_schema = http::member_payload_schema,
        .body_example = R"({"email": "ada@example.org", "first_name": "Ada", "country": "GB"})",
        .reply = {201, "The member was created or attached.", "application/json", "CreatedUser",
                  created_schema},
        .second_reply = ReplySpec{200, "The user was a member already; empty values were filled.",
                                  "application/json", "CreatedUser", created_schema},
        .errors = kCreateErrors,
        .handler = decoded<kNewUser, create_user>},
    Endpoint{.method = Method::Get,
             .path = "/v1/users/{userId}",
             .operation = "getUser",
             .summary = "Read a member",
             .reply = replies<kUser>(200, "The member."),
             .errors = kReadErrors,
             .handler = get_user},
};
static_assert(well_formed(kEndpoints, "/v1/users"));

}  // namespace

std::span<const Endpoint> user_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
