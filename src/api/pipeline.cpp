#include "api/pipeline.hpp"

#include "api/authenticate.hpp"
#include "base/crypto.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "http/json_body.hpp"
#include "service/failure.hpp"

#include <chrono>

namespace muster::api {
namespace {

using http::Reply;
using http::Request;

constexpr std::size_t kLongestKey = 255;

// ---------------------------------------------------------------------------- checks on the way in

void refuse_stale(const Request& request, int limit_seconds) {
    // It waited for a worker so long that its client has gone; its work would be for nobody.
    const auto waited = Timestamp::now() - request.arrived;
    if (waited > Milliseconds(1000L * limit_seconds)) {
        throw Error(ErrorCode::ServiceUnavailable).retry_after(1).internal("stale request");
    }
}

bool is_json(std::string_view content_type) {
    const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
    return equal_ignoring_case(type, "application/json");
}

// A path id that is no UUID names nothing, whatever else is wrong with the request.
void refuse_malformed_ids(const Endpoint& endpoint,
                          const std::vector<std::string_view>& parameters) {
    std::size_t index = 0;
    for (const std::string_view segment : split(endpoint.path, '/')) {
        if (!segment.starts_with('{')) continue;
        if (is_id_parameter(segment) && !Uuid::parse(parameters[index]))
            throw Error(ErrorCode::NotFound);
        ++index;
    }
}

// The body as it came; "" where none was sent.
std::string read_body(const Request& request, const Endpoint& endpoint) {
    auto body = request.read_body(endpoint.body_limit);
    if (!body) {
        throw Error(ErrorCode::PayloadTooLarge)
            .detail("limit_bytes", Json::UInt64(endpoint.body_limit));
    }
    if (body->empty()) {
        if (!endpoint.body_required) return {};
        throw Error(ErrorCode::BadRequest).detail("reason", "the body is empty");
    }
    if (endpoint.body_limit > 0 && !is_json(request.content_type)) {
        throw Error(ErrorCode::UnsupportedMediaType);
    }
    return std::move(*body);
}

bool has_idempotency_key(const Request& request, const Endpoint& endpoint) {
    return endpoint.idempotency != IdempotencyKey::Ignored && request.has_idempotency_key;
}

void check_idempotency_key(const Request& request, const Endpoint& endpoint) {
    if (!has_idempotency_key(request, endpoint)) {
        if (endpoint.idempotency != IdempotencyKey::Required) return;
        throw Error(ErrorCode::IdempotencyKeyRequired);
    }
    const std::string& key = request.idempotency_key;
    bool good = !key.empty() && key.size() <= kLongestKey;
    for (const char c : key) good = good && c > ' ' && c < 0x7f;
    if (!good) {
        throw Error(ErrorCode::BadRequest)
            .detail("reason", "Idempotency-Key wants 1 to 255 visible ASCII characters");
    }
}

// A module's keys are its own: two installations of one organization know nothing of each other.
// No part of the scope but the last can hold a line end.
std::optional<service::IdempotencyClaim> claim_of(const Call& call) {
    const Request& request = call.request;
    if (!has_idempotency_key(request, call.endpoint)) return std::nullopt;
    std::string scope = std::string(text_of(request.method)) + '\n' + request.path + '\n';
    if (call.caller.module) scope += call.caller.module->installation.text() + '\n';
    scope += request.idempotency_key;
    return service::IdempotencyClaim{
        sha256(scope), sha256(call.body ? http::canonical_json(*call.body) : ""), Secret(scope)};
}

// ---------------------------------------------------------------------------- errors

Reply error_reply(const Error& error) {
    const ErrorEntry& entry = error_entry(error.code());
    Json::Value envelope;
    Json::Value& body = envelope["error"];
    body["code"] = std::string(entry.text);
    body["status"] = entry.status;
    body["message"] = std::string(entry.message);
    if (!error.details().isNull()) body["details"] = error.details();
    Reply reply = json_reply(entry.status, json_text(envelope));
    if (error.retry_after() > 0) {
        reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
    }
    if (entry.status == 401) {
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    return reply;
}

void add_unless_there(Reply& reply, const http::Header& header) {
    for (const auto& [name, value] : reply.headers) {
        if (name == header.first) return;
    }
    reply.headers.push_back(header);
}

Reply not_matched(const Match& match) {
    if (!match.path_known) return error_reply(Error(ErrorCode::NotFound));
    Reply reply = error_reply(Error(ErrorCode::MethodNotAllowed));
    reply.headers.emplace_back("Allow", match.allow);
    return reply;
}

void log_request(const Request& request, const Match& match, const Reply& reply,
                 std::int64_t microseconds, const service::DatabaseCost& cost) {
    log_event(LogLevel::Info, "request",
              {{"method", text_of(request.method)},
               {"operation", match.endpoint ? match.endpoint->operation : "none"},
               {"status", reply.status},
               {"us", microseconds},
               {"db_statements", cost.statements},
               {"db_us", cost.microseconds}});
}

}  // namespace

Reply Pipeline::answer(const Request& request, const Match& match) {
    const Endpoint& endpoint = *match.endpoint;
    refuse_stale(request, context_.settings.server_stale_after);
    Call call{request, endpoint,         context_, metrics_, limiter_,
              {},      match.parameters, {},       nullptr,  std::nullopt};
    if (endpoint.access != Access::Open) {
        call.caller = authenticate(context_, request);
        meet(call.caller);
        authorize(endpoint, call.caller, request);
        refuse_malformed_ids(endpoint, match.parameters);
    } else if (endpoint.method == http::Method::Get) {
        return endpoint.handler(call);  // probes and the description ignore their query
    }
    check_idempotency_key(request, endpoint);
    std::optional<http::JsonBody> json;
    const std::string body = endpoint.body_limit > 0 ? read_body(request, endpoint) : "";
    if (call.caller.module) require_signature(context_, *call.caller.module, request, body);
    if (!body.empty()) {
        json.emplace(body);
        call.body = &json->root();
        call.body_text = body;
    }
    call.query = decode_query(endpoint, request.query);
    call.claim = claim_of(call);
    return endpoint.handler(call);
}

void Pipeline::meet(const service::Caller& caller) {
    if (caller.session) {
        headers_.emplace_back("X-Active-Organization", caller.actor.organization.text());
    }
    const http::RateLimit limit{caller.rate_per_second.value_or(context_.settings.limits_key_rate),
                                caller.burst.value_or(context_.settings.limits_key_burst)};
    const auto verdict = limiter_.take(caller.rate_subject, limit);
    headers_.emplace_back("RateLimit-Policy", http::rate_policy_field(limit));
    headers_.emplace_back("RateLimit", http::rate_limit_field(verdict));
    if (!verdict.allowed) throw Error(ErrorCode::RateLimited).retry_after(verdict.retry_after);
}

Reply Pipeline::answer_or_error(const Request& request, const Match& match) {
    try {
        return answer(request, match);
    } catch (const http::Aborted&) {
        throw;
    } catch (const Error& error) {
        if (!error.internal().empty()) {
            log_event(LogLevel::Warning, "request.error", {{"reason", error.internal()}});
        }
        return error_reply(error);
    } catch (const std::exception& error) {
        log_event(LogLevel::Error, "request.failed", {{"reason", error.what()}});
        if (service::is_passing_failure(error)) {
            return error_reply(Error(ErrorCode::ServiceUnavailable).retry_after(1));
        }
        tainted_ = true;
        return error_reply(Error(ErrorCode::InternalError));
    }
}

Reply Pipeline::handle(const Request& request) {
    const auto began = std::chrono::steady_clock::now();
    set_log_request_id(request.request_id);
    service::reset_database_cost();
    headers_.clear();
    const Match found = match(request.method, request.path);
    Reply reply = found.endpoint ? answer_or_error(request, found) : not_matched(found);
    headers_.emplace_back("Cache-Control", "no-store");
    for (const auto& header : headers_) add_unless_there(reply, header);

    const auto spent = std::chrono::steady_clock::now() - began;
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(spent).count();
    const auto cost = service::database_cost();
    metrics_.count(found.endpoint ? found.index : http::Metrics::kNoOperation, reply.status,
                   microseconds);
    metrics_.count_database(cost.statements, cost.reruns);
    log_request(request, found, reply, microseconds, cost);
    return reply;
}

}  // namespace muster::api
