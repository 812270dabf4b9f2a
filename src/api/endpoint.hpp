// The row: the whole definition of an endpoint, in one place (docs/developers/adding.md "An
// endpoint"). Router, Allow header, authentication, body limit, decoding, metrics and the OpenAPI
// description are made from it.
#pragma once

#include "base/error.hpp"
#include "base/record.hpp"
#include "http/message.hpp"
#include "json/schema.hpp"
#include "rules/access/roles.hpp"
#include "service/idempotency.hpp"

#include <json/value.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Session;
}

namespace muster::service {
struct Caller;
struct CollectedCall;
}  // namespace muster::service

namespace muster::api {

// Who may call (specification 5). A known credential of another kind is 403, an unknown one 401.
enum class Access : std::uint8_t {
    Open,                 // no credential; nginx lets only the loopback through where it must
    Session,              // an admin session, before its second factor too
    VerifiedSession,      // an admin session past its second factor, whatever its seat
    Admin,                // an admin session past its second factor
    OrganizationOrAdmin,  // an organization key, or an admin session past its second factor
    Module,               // a module's credential, on a request that is signed with its secret
    Console,              // an admin session past its second factor, on the console's origin
    TrackingKey,          // a tracking key in the query, or in the body; from an origin on its list
    ContentKey,           // a content key in the query; from an origin on its list
};
constexpr bool is_publishable(Access access) {
    return access == Access::TrackingKey || access == Access::ContentKey;
}
// A seat in the organization is asked for, of the row's role.
constexpr bool asks_for_seat(Access access) {
    return access == Access::Admin || access == Access::OrganizationOrAdmin ||
           access == Access::Console;
}
std::string_view text_of(Access access);

// The workers that answer a row (musterd(8)).
enum class WorkerGroup : std::uint8_t { Api, Collectors };

enum class IdempotencyKey : std::uint8_t { Ignored, Accepted, Required };

// A query parameter: decoded, checked and described from here.
struct QueryParameter {
    // Email and Timestamp are texts that are kept normalised.
    enum class Kind : std::uint8_t { Integer, Text, Flag, Cursor, Email, Timestamp };
    std::string_view name;
    Kind kind = Kind::Text;
    int least = 0;  // of an integer, or the characters of a text
    int most = 0;
    int fallback = 0;
    std::string_view (*choice)(std::size_t index) = nullptr;  // "" behind the last one
    std::string_view meaning = {};
};

// What every list takes.
constexpr QueryParameter page_limit(int most = 100, int fallback = 50) {
    return {.name = "limit",
            .kind = QueryParameter::Kind::Integer,
            .least = 1,
            .most = most,
            .fallback = fallback,
            .meaning = "Most records of a page. A page may hold fewer: go by next_cursor."};
}
inline constexpr QueryParameter kPageCursor{.name = "cursor",
                                            .kind = QueryParameter::Kind::Cursor,
                                            .meaning =
                                                "next_cursor of the page before; send the same "
                                                "filters."};

// A reply of the row. What its body looks like says the handler.
struct ReplySpec {
    int status = 200;
    std::string_view meaning = {};
    bool has_etag = false;  // made from the body; If-None-Match is answered where 304 is declared
    bool has_retry_after = false;  // while the record moves by itself
};
// The same reply, with an ETag.
constexpr ReplySpec with_tag(ReplySpec reply) {
    reply.has_etag = true;
    return reply;
}
// The same reply, with a Retry-After that says when to poll.
constexpr ReplySpec with_retry_after(ReplySpec reply) {
    reply.has_retry_after = true;
    return reply;
}
inline constexpr ReplySpec kNotModified{304, "Not changed since the ETag of If-None-Match."};

// What the body of a reply looks like.
struct ReplyShape {
    std::string_view content_type = {};  // "" = no body
    std::string_view component = {};     // the schema's name in the description; "" = no JSON
    Json::Value (*schema)() = nullptr;
    bool is_streamed = false;  // in pieces, however long that takes
};

struct Call;
struct WorkerState;

// What runs a row. api/answers.hpp has the kinds of handlers, which say what they answer.
struct Handler {
    http::Reply (*run)(Call&) = nullptr;
    // In the place of `run`, for what is written together with other requests'
    // (service/engagement/collect.hpp).
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

// The name of a row, and where the row is written.
struct Operation : std::string_view {
    constexpr Operation() = default;
    // Not std::source_location: clang 14, which fuzzes and lints, has none with libstdc++.
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
    std::string_view description = {};  // what it does and when to use it: 2 to 5 sentences
    Access access = Access::OrganizationOrAdmin;
    rules::Role role = rules::Role::Viewer;  // the least that an admin's seat must be
    IdempotencyKey idempotency = IdempotencyKey::Ignored;
    bool takes_if_match = false;
    std::size_t body_limit = 0;  // bytes; 0: takes no body
    bool body_required = false;
    std::string_view body_component = {};  // the schema's name; "" = no described body
    Json::Value (*body_schema)() = nullptr;
    std::string_view body_example = {};  // JSON, shown in the description
    std::span<const QueryParameter> query = {};
    ReplySpec reply = {};
    std::optional<ReplySpec> second_reply = {};
    std::span<const ErrorCode> errors = {};  // beside those that errors_of() adds
    Handler handler = {};
    WorkerGroup workers = WorkerGroup::Api;
    // False: left out of the partners' description (the console's operations, content).
    bool is_published = true;
    // Asked by nginx alone: in no description.
    bool is_internal = false;
    bool is_local = false;          // for this machine only; to others the path does not exist
    bool has_secret_query = false;  // which no log may show
};

// All that the row can answer: its own errors, and those that its access, its path, its body and
// its Idempotency-Key bring with them.
std::vector<ErrorCode> errors_of(const Endpoint& endpoint);

inline constexpr std::size_t kSmallBody = std::size_t{256} << 10U;
inline constexpr std::size_t kEventsBody = std::size_t{1} << 20U;
inline constexpr std::size_t kStagingBody = std::size_t{16} << 20U;

// The query, checked against the row.
class QueryValues {
  public:
    std::optional<std::string> text(std::string_view name) const;
    int integer(std::string_view name) const;
    std::optional<Timestamp> timestamp(std::string_view name) const;
    bool flag(std::string_view name) const { return integer(name) != 0; }

  private:
    friend QueryValues decode_query(const Endpoint& endpoint, std::string_view query);
    std::map<std::string, std::string, std::less<>> texts_;
    std::map<std::string, int, std::less<>> integers_;
};
// Throws VALIDATION_ERROR with every fault.
QueryValues decode_query(const Endpoint& endpoint, std::string_view query);

// One request on its way through a handler.
struct Call {
    const http::Request& request;
    const Endpoint& endpoint;
    service::Context& context;
    WorkerState& worker;
    const service::Caller& caller;             // empty where the access is Open
    std::vector<std::string_view> parameters;  // of the path
    QueryValues query;
    const json::JsonIn* body = nullptr;  // nullptr: none was sent
    std::optional<service::IdempotencyClaim> claim;
    std::string_view body_text = {};  // as it was sent

    const service::Actor& actor() const;
    const OrgId& org() const;
    // Of a row whose access is a session.
    const rules::Session& session() const;

    // The path's id of that place, or NOT_FOUND: what is no UUID can name nothing.
    template <class IdType>
    IdType id(std::size_t place = 0) const {
        const auto id = IdType::parse(parameters.at(place));
        if (!id) throw Error(ErrorCode::NotFound);
        return *id;
    }

    // Runs `work` in a transaction, or replays the reply recorded for this Idempotency-Key.
    service::StoredReply transact(
        const std::function<service::StoredReply(service::OrgTransaction&)>& work) const;

    // Cursors of this list: bound to the operation, the organization and the filters of the query.
    std::string seal_cursor(std::string_view position) const;
    // The position of the query's cursor; nullopt where none was sent. Throws VALIDATION_ERROR for
    // a bad one.
    std::optional<std::string> cursor_position() const;
    // The same where the position is an id.
    template <class IdType>
    std::optional<IdType> cursor_id() const {
        const auto uuid = Uuid::from_bytes(cursor_position().value_or(""));
        return uuid ? std::optional(IdType(*uuid)) : std::nullopt;
    }

  private:
    std::string cursor_scope() const;
};

// Whether a segment of a row's path, "{userId}", stands for an id; others stand for a key.
constexpr bool is_id_parameter(std::string_view segment) {
    return segment == "{id}" || (segment.starts_with('{') && segment.ends_with("Id}"));
}

template <const auto& kSchema>
Json::Value schema_of() {
    return kSchema.schema();
}

// For endpoints that take no body: none, or an empty object, as many clients send.
struct Nothing {};
inline constexpr auto kNothing = json::object<Nothing>();

// Whether a reply of this status has the body that the handler shows.
constexpr bool has_body(int status) {
    return status >= 200 && status < 300 && status != 204;
}

// Checked at compile time: each row below the prefix, no method and path twice, everything filled
// in, a body where the status has one.
template <std::size_t kCount>
constexpr bool well_formed(const std::array<Endpoint, kCount>& rows, std::string_view prefix) {
    for (std::size_t i = 0; i < kCount; ++i) {
        if (!rows[i].path.starts_with(prefix) || rows[i].operation.empty()) return false;
        if (rows[i].reply.meaning.empty() || rows[i].summary.empty()) return false;
        if (rows[i].description.empty()) return false;
        const bool reads = rows[i].method == http::Method::Get;
        if (asks_for_seat(rows[i].access) && !reads && rows[i].role == rules::Role::Viewer) {
            return false;
        }
        const bool collects = rows[i].handler.collect != nullptr;
        if (!collects && !rows[i].handler.run) return false;
        if (collects != (rows[i].workers == WorkerGroup::Collectors)) return false;
        if (has_body(rows[i].reply.status) == rows[i].handler.shape.content_type.empty()) {
            return false;
        }
        for (std::size_t j = 0; j < i; ++j) {
            const bool same_place =
                rows[i].path == rows[j].path && rows[i].method == rows[j].method;
            if (same_place || rows[i].operation == rows[j].operation) return false;
        }
    }
    return true;
}

// A reply as it was recorded, or is about to be.
http::Reply reply_of(service::StoredReply stored);
http::Reply json_reply(int status, std::string body);
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
