// An Endpoint is a row that describes one operation completely (docs/developers/adding.md "An
// endpoint"). The router, Allow header, authentication, body cap, decoding, metrics, nginx
// locations and OpenAPI description are derived from it.
#pragma once

#include "base/error.hpp"
#include "base/record.hpp"
#include "http/message.hpp"
#include "json/schema.hpp"
#include "service/idempotency.hpp"

#include <json/value.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace muster::rules {
enum class Role : std::uint8_t;  // rules/access/roles.hpp
struct Member;
struct Session;
}  // namespace muster::rules

namespace muster::service {
struct Caller;
struct CollectedCall;
struct EventPage;
}  // namespace muster::service

namespace muster::api {

// Who may call (specification 5). A valid credential of another kind is 403, an unknown one 401.
enum class Access : std::uint8_t {
    Open,                 // no credential; nginx restricts some operations to the loopback
    Session,              // an admin session, also before its second factor
    VerifiedSession,      // an admin session after its second factor, with or without a seat
    Admin,                // an admin session after its second factor, with a seat
    OrganizationOrAdmin,  // an organization key, or an admin session after its second factor
    Module,               // a module credential, with a signed request
    Console,              // an admin session after its second factor, from the console's origin
    TrackingKey,          // a tracking key in the query or body, from an allowed origin
    ContentKey,           // a content key in the query, from an allowed origin
};
constexpr bool is_publishable(Access access) {
    return access == Access::TrackingKey || access == Access::ContentKey;
}
// Whether the caller needs a seat in the organization with the row's role.
constexpr bool asks_for_seat(Access access) {
    return access == Access::Admin || access == Access::OrganizationOrAdmin ||
           access == Access::Console;
}
std::string_view text_of(Access access);

// The workers that run a row (musterd(8)).
enum class WorkerGroup : std::uint8_t {
    Api,         // one request at a time
    Readers,     // short reads of all waiting requests together
    Collectors,  // writes of all waiting requests in one transaction
};

enum class IdempotencyKey : std::uint8_t { Ignored, Accepted, Required };

// A query parameter. Decoding, validation and description use it.
struct QueryParameter {
    // Email, Timestamp and Uuid are texts that are normalized.
    // A Map takes all parameters that begin with its name and a dot.
    enum class Kind : std::uint8_t { Integer, Text, Flag, Cursor, Email, Timestamp, Uuid, Map };
    std::string_view name;
    Kind kind = Kind::Text;
    int least = 0;  // minimum of an integer, or minimum number of characters
    int most = 0;
    int fallback = 0;
    std::string_view (*choice)(std::size_t index) = nullptr;  // "" after the last choice
    bool is_list = false;      // several choices, separated by commas
    bool is_prefix = false;    // the beginning of a text: a space at its end counts
    bool is_composed = false;  // as the texts that it is compared with; a prefix is
    std::string_view meaning = {};
};

// The parameters of every list.
constexpr QueryParameter page_limit(int most = 100, int fallback = 50) {
    return {
        .name = "limit",
        .kind = QueryParameter::Kind::Integer,
        .least = 1,
        .most = most,
        .fallback = fallback,
        .meaning = "Maximum number of records on a page. A page may hold fewer; use next_cursor."};
}
inline constexpr QueryParameter kPageCursor{.name = "cursor",
                                            .kind = QueryParameter::Kind::Cursor,
                                            .meaning =
                                                "next_cursor of the previous page; send the same "
                                                "filters."};

// A reply of the row. The handler defines its body.
struct ReplySpec {
    int status = 200;
    std::string_view meaning = {};
    // The ETag is derived from the body. If-None-Match is evaluated if the row also declares 304.
    bool has_etag = false;
    bool has_version_tag = false;  // the ETag is the record's updated_at
    bool has_retry_after = false;  // while a job is running
    bool has_next_cursor = false;  // if more records follow
    bool has_next_after = false;   // if more rows follow
    bool has_cookie = false;
};
// The same reply, with an ETag.
constexpr ReplySpec with_tag(ReplySpec reply) {
    reply.has_etag = true;
    return reply;
}
// The same reply, with the version of the record as its ETag.
constexpr ReplySpec with_version(ReplySpec reply) {
    reply.has_etag = reply.has_version_tag = true;
    return reply;
}
// The same reply, with a Retry-After for polling.
constexpr ReplySpec with_retry_after(ReplySpec reply) {
    reply.has_retry_after = true;
    return reply;
}
// The same reply, with the cursor of the next one in a header.
constexpr ReplySpec with_next_cursor(ReplySpec reply) {
    reply.has_next_cursor = true;
    return reply;
}
// The same reply, with the number of the last row in a header.
constexpr ReplySpec with_next_after(ReplySpec reply) {
    reply.has_next_after = true;
    return reply;
}
// The same reply, with a cookie.
constexpr ReplySpec with_cookie(ReplySpec reply) {
    reply.has_cookie = true;
    return reply;
}
inline constexpr ReplySpec kNotModified{304, "Not changed since the ETag of If-None-Match."};

// The shape of a reply's body.
struct ReplyShape {
    std::string_view content_type = {};  // "": no body
    std::string_view component = {};     // the schema's name in the OpenAPI document; "": not JSON
    Json::Value (*schema)() = nullptr;
    bool is_streamed = false;  // written in chunks
    // Contains a new secret. A session needs a second factor of the last 15 minutes for it.
    bool shows_secret = false;
    // The representation that the ETag identifies, from the body. nullptr: the body.
    std::string (*tagged)(std::string_view body) = nullptr;
};

struct Call;
struct WorkerState;

// The function that runs a row. api/answers.hpp defines the kinds of handlers.
struct Handler {
    http::Reply (*run)(Call&) = nullptr;
    // Used instead of `run` if several requests are written together (service/collecting.hpp).
    service::CollectedCall (*collect)(Call&) = nullptr;
    ReplyShape shape = {};

    constexpr Handler() = default;
    constexpr Handler(http::Reply (*made)(Call&), ReplyShape as) : run(made), shape(as) {}
    template <class Work>
    requires requires { Work::kShape; }
    constexpr Handler(Work) : shape(Work::kShape) {
        if constexpr (std::is_same_v<std::invoke_result_t<Work, Call&>, service::CollectedCall>) {
            collect = [](Call& call) { return Work{}(call); };
        } else {
            run = [](Call& call) { return Work{}(call); };
        }
    }
};

// The operation's name and the source position of its row.
struct Operation : std::string_view {
    constexpr Operation() = default;
    // Not std::source_location: clang 14, used for sanitizers and linting, lacks it with libstdc++.
    constexpr Operation(const char* name, const char* file_name = __builtin_FILE(),
                        int line_number = __builtin_LINE())
        : std::string_view(name), file(file_name), line(line_number) {}
    const char* file = "";
    int line = 0;
};

struct Endpoint {
    http::Method method = http::Method::Get;
    std::string_view path;  // "/v1/imports/{id}/rows"
    Operation operation;    // "stageImportRows"
    std::string_view summary = {};
    std::string_view description = {};  // what it does and when to use it, in 2 to 5 sentences
    Access access = Access::OrganizationOrAdmin;
    rules::Role role{};  // the minimum role of the admin's seat; by default viewer
    IdempotencyKey idempotency = IdempotencyKey::Ignored;
    bool takes_if_match = false;
    bool takes_console_header = false;  // X-Muster-Console
    std::size_t body_limit = 0;         // in bytes; 0: no body
    bool body_required = false;
    bool accepts_gzip = false;  // Content-Encoding: gzip; the limit holds for the decoded body too
    std::string_view body_component = {};  // the schema's name; "": no body described
    Json::Value (*body_schema)() = nullptr;
    std::string_view body_example = {};  // JSON, shown in the OpenAPI document
    std::span<const QueryParameter> query = {};
    ReplySpec reply = {};
    std::optional<ReplySpec> second_reply = {};
    std::span<const ErrorCode> errors = {};  // in addition to those that errors_of() derives
    Handler handler = {};
    // Of an Open row: the organization in the signed token of the path. It has its share of the
    // workers and its rate. nullopt: the token is not authentic, and the reply NOT_FOUND.
    std::optional<OrgId> (*organization_of)(const WorkerState& worker,
                                            std::string_view token) = nullptr;
    WorkerGroup workers = WorkerGroup::Api;
    // The path's {userId} is a member. It is loaded before the handler runs (Call::loaded_member),
    // together with those of the other requests of a batch.
    bool loads_member = false;
    // Also loads the first page of the member's events, if the query asks for it (Call::events).
    bool loads_events = false;
    // Gives access that outlives the session, or takes a person's. A session needs a second factor
    // of the last 15 minutes for it, as for a reply that shows a secret.
    bool changes_access = false;
    // The handler runs no statement, so the reply goes out before those that need one.
    bool is_quick = false;
    // false: omitted from the partners' description (the console's operations, content).
    bool is_published = true;
    bool is_static = false;         // the same reply for everybody, so nginx may compress it
    bool is_local = false;          // reachable from this machine only; 404 for others
    bool has_secret_query = false;  // the query must not be logged
};

// Whether a session needs a second factor of the last 15 minutes.
constexpr bool needs_recent_factor(const Endpoint& endpoint) {
    return endpoint.handler.shape.shows_secret || endpoint.changes_access;
}

// All errors of the row: its own, and those that follow from its access, path, body and
// Idempotency-Key.
std::vector<ErrorCode> errors_of(const Endpoint& endpoint);

inline constexpr std::size_t kSmallBody = std::size_t{256} << 10U;
inline constexpr std::size_t kEventsBody = std::size_t{1} << 20U;
inline constexpr std::size_t kStagingBody = std::size_t{16} << 20U;

// The validated query parameters.
class QueryValues {
  public:
    std::optional<std::string> text(std::string_view name) const;
    // The parts of a list; empty if the parameter is absent.
    std::vector<std::string> list(std::string_view name) const;
    int integer(std::string_view name) const;
    std::optional<Timestamp> timestamp(std::string_view name) const;
    // The values of a Map, by the rest of the parameter's name.
    std::map<std::string, std::string> map(std::string_view name) const;
    // The value of a Uuid.
    template <class IdType>
    std::optional<IdType> id(std::string_view name) const {
        return IdType::parse(text(name).value_or(""));
    }
    bool flag(std::string_view name) const { return integer(name) != 0; }

  private:
    friend QueryValues decode_query(const Endpoint& endpoint, std::string_view query);
    std::map<std::string, std::string, std::less<>> texts_;
    std::map<std::string, int, std::less<>> integers_;
    std::map<std::string, std::map<std::string, std::string>, std::less<>> maps_;
};
// Throws VALIDATION_ERROR with all faults.
QueryValues decode_query(const Endpoint& endpoint, std::string_view query);

// One request, as passed to a handler.
struct Call {
    const http::Request& request;
    const Endpoint& endpoint;
    service::Context& context;
    WorkerState& worker;
    const service::Caller& caller;    // if the access is Open: at most the row's organization
    bool has_session_cookie = false;  // the session's token came in its cookie
    std::vector<std::string_view> parameters;  // path parameters
    QueryValues query;
    const json::JsonIn* body = nullptr;  // nullptr: no body was sent
    std::optional<service::IdempotencyClaim> claim;
    std::string_view body_text = {};  // the body as sent, for its signature and its exact values
    const rules::Member* member = nullptr;  // of a row that loads it; nullptr: not a member
    // The first page of its events; nullptr: the handler reads the page that it needs.
    service::EventPage* events = nullptr;
    bool is_above_rate = false;  // of the organization in the path's token

    const service::Actor& actor() const;
    const OrgId& org() const;
    std::optional<rules::Role> role() const;
    // Requires a row whose access is a session.
    const rules::Session& session() const;
    // The member of a row that loads it. Throws NOT_FOUND if the user is not a member.
    const rules::Member& loaded_member() const;

    // The path parameter with this index as an id. Throws NOT_FOUND if it is not a UUID.
    template <class IdType>
    IdType id(std::size_t index = 0) const {
        const auto id = IdType::parse(parameters.at(index));
        if (!id) throw Error(ErrorCode::NotFound);
        return *id;
    }

    // Runs `work` in a transaction, or returns the reply recorded for this Idempotency-Key.
    service::StoredReply transact(
        const std::function<service::StoredReply(service::OrgTransaction&)>& work) const;

    // Signs a cursor, bound to the operation, the organization and the query's filters.
    std::string seal_cursor(std::string_view position) const;
    // The position of the query's cursor; nullopt if there is none. Throws VALIDATION_ERROR if it
    // is invalid.
    std::optional<std::string> cursor_position() const;
    // The same for a position that is an id.
    template <class IdType>
    std::optional<IdType> cursor_id() const {
        const auto uuid = Uuid::from_bytes(cursor_position().value_or(""));
        return uuid ? std::optional(IdType(*uuid)) : std::nullopt;
    }

  private:
    std::string cursor_scope() const;
};

// Whether a path segment, such as "{userId}", is an id. Other parameters are keys.
constexpr bool is_id_parameter(std::string_view segment) {
    return segment == "{id}" || (segment.starts_with('{') && segment.ends_with("Id}"));
}

template <const auto& kSchema>
Json::Value schema_of() {
    return kSchema.schema();
}

// For endpoints without a body: no body or an empty object, which many clients send.
struct Nothing {};
inline constexpr auto kNothing = json::object<Nothing>();

// Whether a reply with this status has the body of the handler's shape.
constexpr bool has_body(int status) {
    return status >= 200 && status < 300 && status != 204;
}

// Validates the rows at compile time: paths have the prefix, method and path are unique, all texts
// are filled in, and statuses with a body have one.
template <std::size_t kCount>
constexpr bool well_formed(const std::array<Endpoint, kCount>& rows, std::string_view prefix) {
    for (std::size_t i = 0; i < kCount; ++i) {
        if (!rows[i].path.starts_with(prefix) || rows[i].operation.empty()) return false;
        if (rows[i].reply.meaning.empty() || rows[i].summary.empty()) return false;
        if (rows[i].description.empty()) return false;
        const bool reads = rows[i].method == http::Method::Get;
        if (asks_for_seat(rows[i].access) && !reads && rows[i].role == rules::Role{}) {
            return false;
        }
        const bool collects = rows[i].handler.collect != nullptr;
        if (!collects && !rows[i].handler.run) return false;
        if (collects != (rows[i].workers == WorkerGroup::Collectors)) return false;
        if (rows[i].workers == WorkerGroup::Readers && !reads) return false;
        if (rows[i].loads_member && rows[i].path.find("{userId}") != rows[i].path.find('{')) {
            return false;
        }
        if (rows[i].loads_events && !rows[i].loads_member) return false;
        if (has_body(rows[i].reply.status) == rows[i].handler.shape.content_type.empty()) {
            return false;
        }
        for (std::size_t j = 0; j < i; ++j) {
            const bool is_same_route =
                rows[i].path == rows[j].path && rows[i].method == rows[j].method;
            if (is_same_route || rows[i].operation == rows[j].operation) return false;
        }
    }
    return true;
}

// A recorded reply, or one that is about to be recorded.
http::Reply reply_of(service::StoredReply stored);
http::Reply json_reply(int status, std::string body);
// The ETag of a reply with this body; "" if the row's replies have none.
std::string etag_of(const Endpoint& row, std::string_view body);
http::Reply no_content();  // 204

// {"<name>": [record…], "next_cursor": string|null}
template <const auto& kRecord>
Json::Value list_schema(const char* name) {
    Json::Value schema = JsonType<std::string>::typed("object");
    schema["properties"][name] =
        described(array_of_schema(kRecord.schema()), "The records of this page.", "");
    schema["properties"]["next_cursor"] =
        described(JsonType<std::optional<std::string>>::schema(),
                  "Pass it as cursor to get the next page; null on the last page.", "b3BhcXVl");
    schema["required"].append(name);
    schema["required"].append("next_cursor");
    return schema;
}

}  // namespace muster::api
