// Serves /v1/users…: members of the organization, one by one (specification 3.4, docs/api.md
// "Users"). Create-or-attach itself is service/members/create.cpp, the same path as an import's
// commit.
#include "api/groups.hpp"
#include "http/etag.hpp"
#include "rules/access/admins.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "rules/members/payload.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "service/members/list.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::kUser;
using rules::Member;
using service::MemberAttribute;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

// The body is the payload itself, without a wrapper.
constexpr rules::MemberPayload kNewUser;
constexpr rules::MemberPatchPayload kUserPatch;

struct LockUser {
    std::optional<std::string> reason;
};
constexpr auto kLockUser =
    json::object<LockUser>(json::optional("reason", &LockUser::reason, json::Text{1, 255}));

// ---------------------------------------------------------------------------- replies

// The user record with what the call did: "created", "attached" or "merged".
struct CreatedUserShape {
    std::string_view name = "CreatedUser";

    void write(JsonWriter& to, const service::CreatedMember& created) const {
        to.begin_object();
        for (const auto& field : kUser.fields) {
            to.key(field.name);
            field.write(to, created.member);
        }
        to.key("outcome");
        to.string(text_of(created.outcome));
        to.end_object();
    }
    Json::Value schema() const {
        Json::Value schema = kUser.schema();
        Json::Value& outcome = schema["properties"]["outcome"];
        outcome["type"] = "string";
        for (const char* value : {"created", "attached", "merged"}) outcome["enum"].append(value);
        schema["required"].append("outcome");
        return schema;
    }
};
constexpr CreatedUserShape kCreatedUser;

constexpr auto kUserList = list_of<kUser>("UserList", "users");

// A field of the value's inner entry.
template <auto Member>
constexpr RecordField<MemberAttribute> inner(std::string_view name) {
    using Value = typename MemberOf<decltype(Member)>::Value;
    return {name,
            [](JsonWriter& to, const MemberAttribute& attribute) {
                JsonType<Value>::write(to, attribute.entry.*Member);
            },
            [] { return JsonType<Value>::schema(); }};
}

Json::Value value_schema() {
    Json::Value schema;
    for (const char* type : {"string", "number", "boolean", "array"}) schema["type"].append(type);
    schema["items"] = JsonType<std::string>::schema();
    return schema;
}

constexpr auto kUserAttribute = record<MemberAttribute>(
    "UserAttribute", inner<&rules::AttributeEntry::key>("key"),
    field<&MemberAttribute::type>("type"),
    RecordField<MemberAttribute>{
        "value",
        [](JsonWriter& to, const MemberAttribute& attribute) { to.raw(attribute.entry.value); },
        value_schema},
    inner<&rules::AttributeEntry::provenance>("provenance"),
    inner<&rules::AttributeEntry::updated_at>("updated_at"));

// All of them: there is no next page.
struct UserAttributesShape {
    std::string_view name = "UserAttributeList";

    void write(JsonWriter& to, const std::vector<MemberAttribute>& attributes) const {
        to.begin_object();
        to.key("attributes");
        to.begin_array();
        for (const auto& attribute : attributes) kUserAttribute.write(to, attribute);
        to.end_array();
        to.end_object();
    }
    Json::Value schema() const {
        Json::Value schema = list_schema<kUserAttribute>("attributes");
        schema["properties"].removeMember("next_cursor");
        schema["required"].resize(1);
        return schema;
    }
};
constexpr UserAttributesShape kUserAttributes;

// ---------------------------------------------------------------------------- handlers

Answer<service::CreatedMember> create_user(Call&, OrgTransaction& transaction,
                                           const rules::MemberFields& fields) {
    auto created = service::create_member(transaction, fields);
    std::string location = "/v1/users/" + created.member.user_id.text();
    const bool is_merged = created.outcome == rules::MemberOutcome::Merged;
    return {.value = std::move(created), .location = std::move(location), .is_second = is_merged};
}

auto get_user(Call& call) {
    return service::find_member(call.context, call.org(), call.id<UserId>());
}

auto list_users(Call& call) {
    const service::MemberFilter filter{call.query.text("email"), call.query.text("external_id"),
                                       call.query.text("q"), call.query.timestamp("updated_since"),
                                       call.query.text("status")};
    auto page =
        service::list_members(call.context, call.org(), filter, call.cursor_position().value_or(""),
                              call.query.integer("limit"));
    return page_of(call, std::move(page.members), page.next);
}

auto update_user(Call& call, OrgTransaction& transaction, const rules::MemberPatch& patch) {
    const auto check = [&](const Member& before) {
        const auto& wanted = call.request.if_match;
        if (!wanted) return;
        const std::string etag = http::etag_of(to_json(kUser, before));
        if (!http::if_match_holds(*wanted, etag)) throw Error(ErrorCode::PreconditionFailed);
    };
    return service::change_member(transaction, call.id<UserId>(), patch, check);
}

auto lock_user(Call& call, OrgTransaction& transaction, const LockUser& in) {
    return service::lock_member(transaction, call.id<UserId>(), in.reason);
}

auto unlock_user(Call& call, OrgTransaction& transaction, const Nothing&) {
    return service::unlock_member(transaction, call.id<UserId>());
}

void remove_user(Call& call, OrgTransaction& transaction) {
    service::remove_member(transaction, call.id<UserId>());
}

auto list_user_attributes(Call& call) {
    return service::list_member_attributes(call.context, call.org(), call.id<UserId>());
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kChangeErrors = {ErrorCode::PreconditionFailed};

std::string_view status_choice(std::size_t index) {
    constexpr std::array<std::string_view, 2> kStatuses = {"active", "locked"};
    return index < kStatuses.size() ? kStatuses.at(index) : "";
}

constexpr std::array kListQuery = {
    page_limit("Users a page, at most: while next_cursor is not null there is more, "
               "however few a page holds."),
    kPageCursor,
    QueryParameter{.name = "email",
                   .kind = QueryParameter::Kind::Email,
                   .meaning = "Only the user of this address, whatever its case."},
    QueryParameter{
        .name = "external_id", .least = 1, .meaning = "Only users with exactly this external_id."},
    QueryParameter{
        .name = "status", .choice = status_choice, .meaning = "Only users in this status."},
    QueryParameter{.name = "q",
                   .least = 1,
                   .meaning = "Only users whose email, last_name, or display_name (else first_name "
                              "and last_name) begins with this, whatever its case and accents; in "
                              "the order of what matched."},
    QueryParameter{.name = "updated_since",
                   .kind = QueryParameter::Kind::Timestamp,
                   .meaning = "Only users that changed at that time or later; in the order of "
                              "updated_at, unless q is given."},
};

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
        .body_schema = rules::member_payload_schema,
        .body_example = R"({"email": "ada@example.org", "first_name": "Ada", "country": "GB"})",
        .reply = {201, "The member was created or attached."},
        .second_reply = ReplySpec{200, "The user was a member already; empty values were filled."},
        .handler = decoded<kNewUser, answers<kCreatedUser, create_user>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/users",
             .operation = "listUsers",
             .summary = "List members, by filter",
             .query = kListQuery,
             .reply = {200, "A page of members."},
             .handler = answers<kUserList, list_users>},
    Endpoint{.method = Method::Get,
             .path = "/v1/users/{userId}",
             .operation = "getUser",
             .summary = "Read a member",
             .reply = with_tag({200, "The member, with its ETag."}),
             .handler = answers<kUser, get_user>},
    Endpoint{.method = Method::Patch,
             .path = "/v1/users/{userId}",
             .operation = "updateUser",
             .summary = "Change a member: null clears, attributes change key by key",
             .role = rules::Role::Admin,
             .takes_if_match = true,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "UserPatch",
             .body_schema = schema_of<kUserPatch>,
             .body_example = R"({"last_name": "King", "attributes": {"shirt_size": null}})",
             .reply = with_tag({200, "The member as it is now, with its ETag."}),
             .errors = kChangeErrors,
             .handler = decoded<kUserPatch, answers<kUser, update_user>>},
    Endpoint{.method = Method::Delete,
             .path = "/v1/users/{userId}",
             .operation = "removeUser",
             .summary = "End a membership; the user stays, with its other organizations",
             .role = rules::Role::Admin,
             .reply = {204, "The user is no member any more."},
             .handler = answers_nothing<remove_user>},
    Endpoint{.method = Method::Get,
             .path = "/v1/users/{userId}/attributes",
             .operation = "listUserAttributes",
             .summary = "Read a member's attributes with their types, origin and time",
             .reply = {200, "All of them, by key."},
             .handler = answers<kUserAttributes, list_user_attributes>},
    Endpoint{.method = Method::Post,
             .path = "/v1/users/{userId}/lock",
             .operation = "lockUser",
             .summary = "Lock a member; one who is locked keeps the first reason",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_component = "LockUser",
             .body_schema = schema_of<kLockUser>,
             .body_example = R"({"reason": "Asked for it by phone"})",
             .reply = with_tag({200, "The member, locked, with its ETag."}),
             .handler = decoded<kLockUser, answers<kUser, lock_user>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/users/{userId}/unlock",
             .operation = "unlockUser",
             .summary = "Unlock a member",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = with_tag({200, "The member, active, with its ETag."}),
             .handler = decoded<kNothing, answers<kUser, unlock_user>>},
};
static_assert(well_formed(kEndpoints, "/v1/users"));

}  // namespace

std::span<const Endpoint> user_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
