// The kinds of handlers. A handler's return value becomes the reply that its row declares: the row
// states the status, the handler the shape of the body.
//
//     .reply = {201, "The job."},
//     .handler = decoded<kNewImport, answers<kImportJob, create_import>>
//
// A function takes (Call&) or (Call&, OrgTransaction&), followed by the decoded body if there is
// one. A function that takes a transaction runs inside it, together with the record of its
// Idempotency-Key; it may run twice. A replayed request does not run it.
#pragma once

#include "api/endpoint.hpp"

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::api {

// A value and its metadata. A function without metadata returns the value alone, or an optional
// value: nullopt means NOT_FOUND.
template <class Value>
struct Answer {
    Value value;
    std::string location = {};  // "": no Location header
    std::optional<Timestamp> keep_until =
        {};  // when the recorded reply expires; nullopt: after 24 hours
    std::vector<http::Header> headers = {};  // not recorded, so absent from a replay
    bool is_second = false;                  // use the row's second reply
};
template <class Value, class... Rest>
Answer(Value, Rest...) -> Answer<Value>;

// A page of a list.
template <class Value>
struct Page {
    std::vector<Value> values;
    std::optional<std::string> next_cursor = {};  // nullopt on the last page
};

// ---------------------------------------------------------------------------- pages

// `next` is the position of the next page, nullopt on the last page.
template <class Value>
Page<Value> page_of(const Call& call, std::vector<Value> values,
                    const std::optional<std::string>& next) {
    return {std::move(values),
            next ? std::optional<std::string>(call.seal_cursor(*next)) : std::nullopt};
}

// The page of a query for limit + 1 values: an extra value means that a next page follows.
// `position` of the last value returns the position of the next page.
template <class Value, class Position>
requires std::is_invocable_v<Position, const Value&> Page<Value> page_of(const Call& call,
                                                                         std::vector<Value> values,
                                                                         const Position& position) {
    const auto limit = static_cast<std::size_t>(call.query.integer("limit"));
    if (values.size() <= limit) return {std::move(values)};
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(limit), values.end());
    const std::optional<std::string> next(position(values.back()));
    return page_of(call, std::move(values), next);
}

// The same for a list that is ordered by id (Call::cursor_id).
template <class Value>
Page<Value> page_of(const Call& call, std::vector<Value> values) {
    return page_of(call, std::move(values), [](const Value& value) { return value.id.bytes(); });
}

// ---------------------------------------------------------------------------- shapes

// A shape has the members of a Record: a name, a schema and a function that writes a value. `key`
// is the member that holds the list.
template <const auto& kRecord>
struct ListShape {
    std::string_view name;
    const char* key;

    template <class Value>
    void write(JsonWriter& to, const Page<Value>& page) const {
        to.begin_object();
        write_members(to, page);
        to.end_object();
    }
    // The members of the object, for a shape that adds others.
    template <class Value>
    void write_members(JsonWriter& to, const Page<Value>& page) const {
        to.key(key);
        to.begin_array();
        std::size_t written = 0;
        for (const Value& value : page.values) {
            kRecord.write(to, value);
            to.reserve(++written, page.values.size());
        }
        to.end_array();
        to.key("next_cursor");
        page.next_cursor ? to.string(*page.next_cursor) : to.null();
    }
    Json::Value schema() const { return list_schema<kRecord>(key); }
};
// `constexpr auto kImports = list_of<kImportJob>("ImportList", "imports");`
template <const auto& kRecord>
constexpr ListShape<kRecord> list_of(std::string_view name, const char* key) {
    return {name, key};
}

// A page, with the number of records on all pages if it was asked for.
template <class Value, class Total>
struct CountedPage {
    Page<Value> page;
    std::optional<Total> total = {};
};

// The page of a list, whose `total` is a record that `meaning` describes.
template <const auto& kRecord, const auto& kTotal>
struct CountedListShape {
    std::string_view name;
    const char* key;
    std::string_view meaning;

    template <class Value, class Total>
    void write(JsonWriter& to, const CountedPage<Value, Total>& counted) const {
        to.begin_object();
        ListShape<kRecord>{name, key}.write_members(to, counted.page);
        if (counted.total) {
            to.key("total");
            kTotal.write(to, *counted.total);
        }
        to.end_object();
    }
    Json::Value schema() const {
        Json::Value schema = list_schema<kRecord>(key);
        schema["properties"]["total"] = described(kTotal.schema(), meaning, "");
        return schema;
    }
};

// A record that is returned once with its secrets (api/issued.hpp).
template <const auto& kRecord>
inline constexpr bool kIssuesSecrets = requires {
    kRecord.kIssuesSecrets;
};

template <const auto& kRecord>
inline constexpr ReplyShape json_shape{.content_type = "application/json",
                                       .component = kRecord.name,
                                       .schema = &schema_of<kRecord>,
                                       .shows_secret = kIssuesSecrets<kRecord>};

// A body that is not JSON. The OpenAPI description omits the parameters of the media type.
constexpr ReplyShape media_shape(std::string_view type, bool is_streamed) {
    return {.content_type = type.substr(0, type.find(';')), .is_streamed = is_streamed};
}

// --------------------------------------------------------------------------- from value to reply

template <class Value>
Answer<Value> answer_of(Answer<Value> answer) {
    return answer;
}
template <class Value>
Answer<Value> answer_of(std::optional<Value> value) {
    if (!value) throw Error(ErrorCode::NotFound);
    return {std::move(*value)};
}
template <class Value>
Answer<Value> answer_of(Value value) {
    return {std::move(value)};
}

// The reply as recorded. Shapes with secrets are recorded encrypted.
template <const auto& kShape, class Value>
service::StoredReply stored(const Endpoint& row, const Answer<Value>& answer) {
    constexpr bool kIsSecret = requires {
        kShape.kShowsSecrets;
    };
    return {.status = answer.is_second ? row.second_reply->status : row.reply.status,
            .location = answer.location,
            .body = to_json(kShape, answer.value),
            .keep_until = answer.keep_until,
            .is_secret = kIsSecret};
}

// Builds the reply with its headers, and with ETag and 304 if the row declares them.
http::Reply complete(const Call& call, service::StoredReply stored,
                     std::vector<http::Header> headers);

// Whether the reply is a replay.
bool is_replayed(const http::Reply& reply);

// Whether the function takes an open transaction.
template <auto kWork, class... Body>
inline constexpr bool kIsTransacted =
    std::is_invocable_v<decltype(kWork), Call&, service::OrgTransaction&, const Body&...>;
template <auto kWork, class... Body>
inline constexpr bool kIsHandler =
    kIsTransacted<kWork, Body...> || std::is_invocable_v<decltype(kWork), Call&, Body...>;

// ---------------------------------------------------------------------------- kinds of handlers

template <const auto& kRecord, auto kWork>
struct Answers {
    static constexpr ReplyShape kShape = json_shape<kRecord>;

    template <class... Body>
    http::Reply operator()(Call& call, Body... body) const {
        static_assert(kIsHandler<kWork, Body...>,
                      "a handler takes (Call&[, OrgTransaction&][, decoded body])");
        std::vector<http::Header> headers;
        const auto shown = [&](auto answer) {
            headers = std::move(answer.headers);
            return stored<kRecord>(call.endpoint, answer);
        };
        if constexpr (kIsTransacted<kWork, Body...>) {
            auto reply = call.transact([&](service::OrgTransaction& transaction) {
                return shown(answer_of(kWork(call, transaction, std::as_const(body)...)));
            });
            return complete(call, std::move(reply), std::move(headers));
        } else {
            auto reply = shown(answer_of(kWork(call, std::move(body)...)));
            return complete(call, std::move(reply), std::move(headers));
        }
    }
};
// Replies with the value in the shape of the record or list.
template <const auto& kRecord, auto kWork>
inline constexpr Answers<kRecord, kWork> answers;

// Of a reply with a job that is running: when to read the job again.
inline const http::Header kRetryAfter{"Retry-After", "1"};

// The job, with a Retry-After while it is running.
template <class Job>
Answer<Job> polled(Job job, std::optional<Timestamp> keep_until = {}) {
    Answer<Job> answer{std::move(job), "", keep_until};
    if (is_in_progress(answer.value.state)) answer.headers.push_back(kRetryAfter);
    return answer;
}

// A replay shows the job when it started to run, so it also gets a Retry-After.
template <auto kNext>
struct RetryAfterReplay {
    static constexpr ReplyShape kShape = kNext.kShape;

    template <class Body>
    http::Reply operator()(Call& call, const Body& body) const {
        http::Reply reply = kNext(call, body);
        if (is_replayed(reply)) reply.headers.push_back(kRetryAfter);
        return reply;
    }
};
template <auto kNext>
inline constexpr RetryAfterReplay<kNext> retry_after_replay;

template <auto kWork>
struct AnswersNothing {
    static constexpr ReplyShape kShape{};

    template <class... Body>
    http::Reply operator()(Call& call, Body... body) const {
        static_assert(kIsHandler<kWork, Body...>,
                      "a handler takes (Call&[, OrgTransaction&][, decoded body])");
        service::StoredReply reply{.status = call.endpoint.reply.status};
        if constexpr (kIsTransacted<kWork, Body...>) {
            reply = call.transact([&](service::OrgTransaction& transaction) {
                kWork(call, transaction, std::as_const(body)...);
                return reply;
            });
        } else if constexpr (std::is_void_v<
                                 std::invoke_result_t<decltype(kWork), Call&, Body...>>) {
            kWork(call, std::move(body)...);
        } else {
            return complete(call, std::move(reply), kWork(call, std::move(body)...));
        }
        return complete(call, std::move(reply), {});
    }
};
// Runs the function and replies without a body. The function may return headers of the reply.
template <auto kWork>
inline constexpr AnswersNothing<kWork> answers_nothing;

template <auto kWork>
struct Redirects {
    static constexpr ReplyShape kShape{};

    http::Reply operator()(Call& call) const {
        return complete(call, {.status = call.endpoint.reply.status, .location = kWork(call)}, {});
    }
};
// Redirects to the address that the function returns.
template <auto kWork>
inline constexpr Redirects<kWork> redirects;

// A body written in chunks.
struct Stream {
    std::vector<http::Header> headers;
    std::function<void(const http::Sink&)> write;
    std::size_t length = 0;  // the total size of the chunks
};

// A body with headers of its own.
struct Document {
    std::string body;
    std::vector<http::Header> headers;
};

template <const char* kType, auto kWork>
struct Sends {
    static constexpr bool kIsStreamed = std::is_invocable_r_v<Stream, decltype(kWork), Call&>;
    static constexpr ReplyShape kShape = media_shape(kType, kIsStreamed);

    http::Reply operator()(Call& call) const {
        http::Reply reply;
        reply.status = call.endpoint.reply.status;
        reply.content_type = kType;
        if constexpr (kIsStreamed) {
            Stream stream = kWork(call);
            reply.headers = std::move(stream.headers);
            reply.stream = std::move(stream.write);
            reply.stream_length = stream.length;
        } else if constexpr (std::is_invocable_r_v<Document, decltype(kWork), Call&>) {
            Document document = kWork(call);
            reply.headers = std::move(document.headers);
            reply.body = std::move(document.body);
        } else {
            reply.body = kWork(call);
        }
        return reply;
    }
};
// Replies with a text or stream of this media type.
template <const char* kType, auto kWork>
inline constexpr Sends<kType, kWork> sends;

// ---------------------------------------------------------------------------- before a handler

template <const auto& kSchema, auto kNext>
struct Decoded {
    static constexpr ReplyShape kShape = kNext.kShape;

    auto operator()(Call& call) const {
        typename std::remove_cvref_t<decltype(kSchema)>::Value value{};
        if (call.body) value = json::decode(kSchema, *call.body, Date::of(Timestamp::now()));
        return kNext(call, std::move(value));
    }
};
// Decodes the body and passes it to the handler.
template <const auto& kSchema, auto kNext>
inline constexpr Decoded<kSchema, kNext> decoded;

template <auto kCheck, auto kNext>
struct Checked {
    static constexpr ReplyShape kShape = kNext.kShape;

    template <class Body>
    http::Reply operator()(Call& call, Body body) const {
        kCheck(call, std::as_const(body));
        return kNext(call, std::move(body));
    }
};
// Runs a check once, before the handler's transaction.
template <auto kCheck, auto kNext>
inline constexpr Checked<kCheck, kNext> checked;

}  // namespace muster::api
