// Serves /v1/users…: single members of the organization (specification 3.4, docs/api/users.md
// "Users"). service/members/create.cpp implements create-or-attach for this call and for imports.
#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "api/long_answer.hpp"
#include "api/member_query.hpp"
#include "base/settings.hpp"
#include "http/etag.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "rules/members/payload.hpp"
#include "service/collecting.hpp"
#include "service/members/attributes.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "service/members/list.hpp"
#include "service/quotas.hpp"

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
constexpr auto kLockUser = json::object<LockUser>(
    json::optional("reason", &LockUser::reason, json::Text{1, 255},
                   "Reason for the lock, for people.", "Asked for it by phone"));

// ---------------------------------------------------------------------------- replies

// The user record with the outcome of the call.
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
        schema["properties"]["outcome"] = described(
            JsonType<rules::MemberOutcome>::schema(),
            "created: a new user; attached: an existing user became a member; merged: empty values of "
            "a member were filled.",
            "");
        schema["required"].append("outcome");
        return schema;
    }
};
constexpr CreatedUserShape kCreatedUser;

constexpr auto kMemberTotal = record<service::MemberTotal>(
    "MemberTotal",
    field<&service::MemberTotal::count>("count", "Number of members counted: 0 to 10,000.", "42"),
    field<&service::MemberTotal::exact>(
        "exact", "false: there may be more; count is the least number.", "true"));

constexpr CountedListShape<kUser, kMemberTotal> kUserList{
    "UserList", "users", "The number of members on all pages; only with total=true."};

constexpr auto kUserAttribute = record<MemberAttribute>(
    "UserAttribute",
    field<&MemberAttribute::entry, &rules::AttributeEntry::key>("key", "Key of the attribute.",
                                                                "shirt_size"),
    field<&MemberAttribute::type>("type", "Type of the value."),
    RecordField<MemberAttribute>{
        "value", "The value.",
        [](JsonWriter& to, const MemberAttribute& attribute) { to.raw(attribute.entry.value); },
        rules::attribute_value_schema},
    field<&MemberAttribute::entry, &rules::AttributeEntry::provenance>(
        "provenance", "Origin of the value: an import, or api for every other writer."),
    field<&MemberAttribute::entry, &rules::AttributeEntry::updated_at>(
        "updated_at", "Time when the value last changed."));

// All attributes, without pages.
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

Answer<service::CreatedMember> answer_with(const service::CreatedMember& created) {
    return {.value = created,
            .location = "/v1/users/" + created.member.user_id.text(),
            .is_second = created.outcome == rules::MemberOutcome::Merged};
}

// The record of GET, whose ETag the reply has: the body without its last field, the outcome.
std::string user_in(std::string_view created) {
    return std::string(created.substr(0, created.rfind(",\"outcome\":"))) + "}";
}

// Replies after the members of all collected calls are committed.
struct CreatesMember {
    static constexpr ReplyShape kShape = [] {
        ReplyShape shape = json_shape<kCreatedUser>;
        shape.tagged = user_in;
        return shape;
    }();

    service::CollectedCall operator()(Call& call, rules::MemberFields fields) const {
        return {
            service::CollectedMember{call.actor(), call.claim,
                                     std::make_shared<const rules::MemberFields>(std::move(fields)),
                                     [&row = call.endpoint](const service::CreatedMember& created) {
                                         return stored<kCreatedUser>(row, answer_with(created));
                                     }}};
    }
};
constexpr CreatesMember kCreateUser;

auto get_user(Call& call) {
    return call.loaded_member();
}

std::string_view order_choice(std::size_t index) {
    constexpr std::array<std::string_view, 2> kOrders = {"filter", "newest"};
    return index < kOrders.size() ? kOrders.at(index) : "";
}

// The filter with the order of the list. Throws VALIDATION_ERROR if no index serves both.
service::MemberFilter ordered_filter_of(const Call& call) {
    service::MemberFilter filter = member_filter_of(call);
    if (call.query.text("order") != order_choice(1)) return filter;
    filter.order = service::MemberOrder::Newest;
    if (filter.serves_newest()) return filter;
    Faults faults;
    faults.add(
        "order", FieldCode::InvalidChoice,
        "cannot be newest together with external_id, q, imported_by or updated_since; use filter, "
        "or omit these parameters",
        {.allowed = {std::string(order_choice(0))}});
    throw Error(ErrorCode::ValidationError).fields(faults);
}

constexpr char kMemberCsv[] = "text/csv; charset=utf-8";

Stream export_users(Call& call) {
    LongAnswer answer(call);
    const auto run =
        service::find_member_run(call.context, call.org(), member_filter_of(call),
                                 call.cursor_position().value_or(""), call.query.integer("limit"));
    const std::size_t done = service::write_member_export(call.context, call.org(), run.users,
                                                          call.query.flag("raw"), answer.sink());
    const auto next =
        done < run.users.size() ? std::optional(run.positions.at(done - 1)) : run.next;
    if (next) answer.add_header("X-Next-Cursor", call.seal_cursor(*next));
    return std::move(answer).as_file("members.csv");
}

auto list_users(Call& call) {
    const service::MemberFilter filter = ordered_filter_of(call);
    auto page =
        service::list_members(call.context, call.org(), filter, call.cursor_position().value_or(""),
                              call.query.integer("limit"));
    CountedPage<Member, service::MemberTotal> users{
        page_of(call, std::move(page.members), page.next)};
    if (call.query.flag("total")) {
        users.total = service::count_members(call.context, call.org(), filter);
    }
    return users;
}

service::MemberCheck condition_of(const Call& call) {
    if (!has_condition(call)) return {};
    return [&call](const Member& before) {
        check_condition(call, http::etag_of(to_json(kUser, before)));
    };
}

void reject_used_up_bytes(const Call& call, const OrgTransaction& transaction) {
    service::reject_full(transaction, rules::Quota::MemberBytes, call.context.settings.limits);
}

auto update_user(Call& call, OrgTransaction& transaction, const rules::MemberPatch& patch) {
    reject_used_up_bytes(call, transaction);
    return service::change_member(transaction, call.id<UserId>(), patch, condition_of(call));
}

auto lock_user(Call& call, OrgTransaction& transaction, const LockUser& in) {
    reject_used_up_bytes(call, transaction);
    return service::lock_member(transaction, call.id<UserId>(), in.reason, condition_of(call));
}

auto unlock_user(Call& call, OrgTransaction& transaction, const Nothing&) {
    reject_used_up_bytes(call, transaction);
    return service::unlock_member(transaction, call.id<UserId>(), condition_of(call));
}

void remove_user(Call& call, OrgTransaction& transaction) {
    service::remove_member(transaction, call.id<UserId>(), condition_of(call));
}

auto list_user_attributes(Call& call) {
    return service::list_member_attributes(call.context, call.loaded_member());
}

// ---------------------------------------------------------------------------- rows

constexpr QueryParameter kListOrder{
    .name = "order",
    .choice = order_choice,
    .meaning =
        "newest: the newest members first; not with external_id, q, imported_by or updated_since. "
        "filter, the default: the order of the filter, or else by id."};
constexpr QueryParameter kListTotal{
    .name = "total",
    .kind = QueryParameter::Kind::Flag,
    .meaning = "true: the reply has total, the number of members that match, up to 10,000."};

constexpr std::array kMemberListQuery = {
    page_limit(), kPageCursor,    kEmailFilter,     kExternalIdFilter, kStatusFilter, kPrefixFilter,
    kSinceFilter, kCountryFilter, kAttributeFilter, kImportFilter,     kListOrder,    kListTotal};
constexpr std::array kMemberExportQuery = {
    page_limit(service::kMostExported, service::kMostExported),
    QueryParameter{.name = "cursor",
                   .kind = QueryParameter::Kind::Cursor,
                   .meaning = "X-Next-Cursor of the previous answer; send the same filters."},
    kEmailFilter,
    kExternalIdFilter,
    kStatusFilter,
    kPrefixFilter,
    kSinceFilter,
    kCountryFilter,
    kAttributeFilter,
    kImportFilter,
    QueryParameter{.name = "raw",
                   .kind = QueryParameter::Kind::Flag,
                   .meaning = "true: cells exactly as stored, without the guard against formulas."},
};

constexpr std::array kMemberEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/users",
        .operation = "createUser",
        .summary = "Create a user or attach an existing one as a member",
        .description =
            "Creates a user and makes it a member, attaches an existing user, or fills empty "
            "values of a member. It never overwrites a value. outcome reports the result; 200 "
            "means that the user was a member already. Repeat safely with an Idempotency-Key.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "MemberPayload",
        .body_schema = schema_of<kNewUser>,
        .body_example = R"({"email": "ada@example.org", "first_name": "Ada", "country": "GB"})",
        .reply = with_tag({201, "The member was created or attached, with its ETag."}),
        .second_reply = with_tag({200, "The user was a member already; empty values were filled."}),
        .handler = decoded<kNewUser, kCreateUser>,
        .workers = WorkerGroup::Collectors},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/users",
        .operation = "listUsers",
        .summary = "List and search members",
        .description =
            "Lists the members of the organization. Filters can be combined; q searches the "
            "beginning of names and addresses. To follow changes, call it repeatedly with "
            "updated_since. A page may be shorter than limit; continue until next_cursor is null. "
            "total=true counts the members that match.",
        .query = kMemberListQuery,
        .reply = {200, "A page of members."},
        .handler = answers<kUserList, list_users>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/users/export",
        .operation = "exportUsers",
        .summary = "Download members as CSV",
        .description =
            "Returns up to 10,000 members as CSV in the columns of an import, with a column for each "
            "enabled attribute. The filters are those of listUsers, in its default order. If the "
            "reply has X-Next-Cursor, more members follow. Cells that a spreadsheet could run as "
            "formulas are guarded, unless raw is true. An organization gets one export or report at "
            "a time.",
        .query = kMemberExportQuery,
        .reply = with_next_cursor({200, "CSV (RFC 4180) with a header line."}),
        .handler = sends<kMemberCsv, export_users>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/users/{userId}",
        .operation = "getUser",
        .summary = "Read a member",
        .description =
            "Returns one member with its attributes. Send the ETag as If-Match with updateUser to "
            "avoid overwriting another change. A user who is not a member of this organization is "
            "404.",
        .reply = with_tag({200, "The member, with its ETag."}),
        .handler = answers<kUser, get_user>,
        .workers = WorkerGroup::Readers,
        .loads_member = true,
        .is_quick = true},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/users/{userId}",
        .operation = "updateUser",
        .summary = "Change a member",
        .description =
            "Overwrites the fields that are sent and keeps the others; null or an empty string "
            "clears a field. attributes change key by key. The email address never changes. With "
            "If-Match, the change is made only if the record is unchanged; otherwise the reply is "
            "412.",
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "UserPatch",
        .body_schema = schema_of<kUserPatch>,
        .body_example = R"({"last_name": "King", "attributes": {"shirt_size": null}})",
        .reply = with_tag({200, "The member as it is now, with its ETag."}),
        .handler = decoded<kUserPatch, answers<kUser, update_user>>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/users/{userId}",
        .operation = "removeUser",
        .summary = "End a membership",
        .description =
            "Ends the membership, and deletes its record with attributes and counts of shown ads. "
            "The user keeps memberships in other organizations. With If-Match, only an unchanged "
            "record is deleted; otherwise the reply is 412. A second call is 404.",
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .reply = {204, "The membership has ended."},
        .handler = answers_nothing<remove_user>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/users/{userId}/attributes",
        .operation = "listUserAttributes",
        .summary = "Read a member's attributes with type, origin and time",
        .description =
            "Returns all attributes of a member with type, origin and time of the last change. "
            "Attributes that were disabled later are included. The reply has no pages.",
        .reply = {200, "All attributes, by key."},
        .handler = answers<kUserAttributes, list_user_attributes>,
        .workers = WorkerGroup::Readers,
        .loads_member = true},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/users/{userId}/lock",
        .operation = "lockUser",
        .summary = "Lock a member",
        .description =
            "Locks a member, with an optional reason. A locked member keeps the first reason and "
            "time, so the call can be repeated. A locked member's data can still be changed.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .takes_if_match = true,
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
             .description =
                 "Makes a member active again and deletes the reason of the lock. An active member "
                 "is not changed, so the call can be repeated.",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .takes_if_match = true,
             .body_limit = kSmallBody,
             .reply = with_tag({200, "The member, active, with its ETag."}),
             .handler = decoded<kNothing, answers<kUser, unlock_user>>},
};
static_assert(well_formed(kMemberEndpoints, "/v1/users"));

}  // namespace

std::span<const Endpoint> user_endpoints() {
    return kMemberEndpoints;
}

}  // namespace muster::api
