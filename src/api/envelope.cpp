#include "api/envelope.hpp"

#include "api/endpoint.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "service/failure.hpp"

#include <utility>

namespace muster::api {

http::Reply error_reply(const Error& error) {
    const ErrorEntry& entry = error_entry(error.code());
    Json::Value envelope;
    Json::Value& body = envelope["error"];
    body["code"] = std::string(entry.text);
    body["status"] = entry.status;
    body["message"] = std::string(entry.message);
    if (!error.details().isNull()) body["details"] = error.details();
    http::Reply reply = json_reply(entry.status, json_text(envelope));
    if (error.retry_after() > 0) {
        reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
    }
    if (entry.status == 401) {
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    return reply;
}

void pack_refusal(http::Reply& reply) {
    constexpr int kRefused = 403;
    constexpr int kInternal = 500;
    if (reply.status == kInternal) return;
    reply.headers.emplace_back("X-Muster-Status", std::to_string(reply.status));
    reply.headers.emplace_back("X-Muster-Body", std::exchange(reply.body, ""));
    reply.status = kRefused;
}

Failure reply_to(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        if (!error.internal().empty()) {
            log_event(LogLevel::Warning, "request.error", {{"reason", error.internal()}});
        }
        return {error_reply(error)};
    } catch (const std::exception& error) {
        log_event(LogLevel::Error, "request.failed", {{"reason", error.what()}});
        if (service::is_transient_failure(error)) {
            return {error_reply(Error(ErrorCode::ServiceUnavailable).retry_after(1))};
        }
        return {error_reply(Error(ErrorCode::InternalError)), true};
    }
}

}  // namespace muster::api
