// The row: all that there is to say about an endpoint, in one place (HACKING.md "How to add an
// endpoint"). Router, Allow header, authentication, body cap, decoding, metrics and the OpenAPI
// description are made from it; nothing about an endpoint is said elsewhere.
#pragma once

#include "base/error.hpp"
#include "base/record.hpp"
#include "http/message.hpp"
#include "json/schema.hpp"
#include "rules/access/admins.hpp"
#include "service/callers.hpp"
#include "service/engagement/collect.hpp"
#include "service/idempotency.hpp"

#include <json/value.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct ReplySpec {
    int status = 200;
    std::string_view meaning = {};
    std::string_view content_type = "application/json";
    std::string_view component = {};  // the schema's name in the description; "" = no JSON body
    Json::Value (*schema)() = nullptr;
    bool has_etag = false;
    bool has_retry_after = false;  // while the record moves by itself
};

struct Call;
struct WorkerState;

struct Endpoint {
    http::Method method = http::Method::Get;
    std::string_view path;       // "/v1/imports/{id}/rows"
    std::string_view operation;  // "stageImportRows"
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
    http::Reply (*handler)(Call&) = nullptr;
    // In the handler's place, for what is written together with other requests'
    // (service/engagement/collect.hpp).
    service::CollectedCall (*collector)(Call&) = nullptr;
    // False: left out of the partners' description (the console's operations, content).
    bool is_published = true;
    // Asked by nginx alone: in no description.
    bool is_internal = false;
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
    service::Caller caller;                    // empty where the access is Open
    std::vector<std::string_view> parameters;  // of the path
    QueryValues query;
    const json::JsonIn* body = nullptr;  // nullptr: none was sent
    std::optional<service::IdempotencyClaim> claim;
    std::string_view body_text = {};  // as it was sent

    const service::Actor& actor() const { return caller.actor; }
    const OrgId& org() const { return caller.actor.organization; }
    // Of a row whose access is a session.
    const rules::Session& session() const { return *caller.session; }

    // The path's id of that place, or NOT_FOUND: what is no UUID can name nothing.
    template <class IdType>
    IdType id(std::size_t place = 0) const {
        const auto id = IdType::parse(parameters.at(place));
        if (!id) throw Error(ErrorCode::NotFound);
        return *id;
    }

    // Runs `work` in a transaction, or replays the reply recorded for this Idempotency-Key.
    http::Reply transact(
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

// A handler or collector that takes a decoded body: `decoded<kNewImport, create_import>`.
template <const auto& kSchema, auto kHandler>
auto decoded(Call& call) {
    typename std::remove_cvref_t<decltype(kSchema)>::Value value{};
    if (call.body) value = json::decode(kSchema, *call.body, Date::of(Timestamp::now()));
    return kHandler(call, std::move(value));
}

template <const auto& kSchema>
Json::Value schema_of() {
    return kSchema.schema();
}

template <const auto& kRecord>
constexpr ReplySpec replies(int status, std::string_view meaning) {
    return {status, meaning, "application/json", kRecord.name, &schema_of<kRecord>};
}

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

// For endpoints that take no body: none, or an empty object, as many clients send.
struct Nothing {};
inline constexpr auto kNothing = json::object<Nothing>();

// Checked at compile time: each row below the prefix, no method and path twice, everything filled
// in.
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
        if ((rows[i].handler == nullptr) == (rows[i].collector == nullptr)) return false;
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

// ---------------------------------------------------------------------------- lists

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

// A page; `next` is the position where the next one starts, nullopt behind the last page.
template <class Record, class Value>
http::Reply page_reply(const Call& call, std::string_view name, const Record& record,
                       const std::vector<Value>& values, const std::optional<std::string>& next) {
    std::string body;
    JsonWriter writer(body);
    writer.begin_object();
    writer.key(name);
    writer.begin_array();
    for (const Value& value : values) record.write(writer, value);
    writer.end_array();
    writer.key("next_cursor");
    next ? writer.string(call.seal_cursor(*next)) : writer.null();
    writer.end_object();
    return json_reply(200, std::move(body));
}

// A page; `position` of the last value marks where the next one starts.
template <class Record, class Value, class Position>
http::Reply page_reply(const Call& call, std::string_view name, const Record& record,
                       const std::vector<Value>& values, bool has_more, const Position& position) {
    const auto next = has_more ? std::optional<std::string>(position(values.back())) : std::nullopt;
    return page_reply(call, name, record, values, next);
}

// The page of a list that was asked for limit + 1 values: the one too many tells that there is a
// next page.
template <class Record, class Value, class Position>
http::Reply page_reply(const Call& call, std::string_view name, const Record& record,
                       std::vector<Value>& values, const Position& position) {
    const auto limit = static_cast<std::size_t>(call.query.integer("limit"));
    const bool has_more = values.size() > limit;
    if (has_more) values.erase(values.begin() + static_cast<std::ptrdiff_t>(limit), values.end());
    return page_reply(call, name, record, values, has_more, position);
}

// The same for a list by id (Call::cursor_id).
template <class Record, class Value>
http::Reply page_reply(const Call& call, std::string_view name, const Record& record,
                       std::vector<Value>& values) {
    return page_reply(call, name, record, values,
                      [](const Value& value) { return value.id.bytes(); });
}

}  // namespace muster::api
