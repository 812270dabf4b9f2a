#include "api/pages/cors.hpp"

#include "api/endpoint.hpp"
#include "base/error.hpp"
#include "rules/origins.hpp"

namespace muster::api {
namespace {

// A browser sends an origin; other clients usually send none.
[[noreturn]] void reject_origin(bool is_missing) {
    throw Error(ErrorCode::OriginNotAllowed).detail("reason", is_missing ? "MISSING" : "FOREIGN");
}

constexpr std::string_view kOwnPage = "same-origin";

}  // namespace

std::optional<std::string> origin_of(const http::Request& request) {
    if (request.origin) return rules::canonical_origin(*request.origin);
    return request.referer ? rules::origin_of_url(*request.referer) : std::nullopt;
}

void require_origin(const rules::PublishableKey& key, const http::Request& request) {
    const auto origin = origin_of(request);
    if (!origin || !rules::is_allowed_origin(key.allowed_origins, *origin)) {
        reject_origin(!request.origin && !request.referer);
    }
}

void require_console(std::string_view console_origin, const http::Request& request) {
    const bool may_lack_origin = http::is_safe(request.method);
    const bool has_proof = request.fetch_site || request.referer;
    if (!request.origin && !(may_lack_origin && has_proof)) {
        reject_origin(!request.fetch_site || *request.fetch_site == kOwnPage);
    }
    if (!is_from_console(console_origin, request)) reject_origin(false);
}

bool is_from_console(std::string_view console_origin, const http::Request& request) {
    if (request.fetch_site && *request.fetch_site != kOwnPage) return false;
    if (request.fetch_site && !request.origin) return true;
    const auto origin = origin_of(request);
    return origin && origin == rules::canonical_origin(console_origin);
}

std::vector<http::Header> cors_headers(const http::Request& request) {
    // A request without Origin is not a CORS request, so the browser does not read these headers.
    const auto origin = origin_of(request);
    if (!request.origin || !origin) return {};
    return {{"Access-Control-Allow-Origin", *origin},
            {"Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id"}};
}

http::Reply preflight_reply(const std::string& methods) {
    http::Reply reply = no_content();
    reply.headers = {{"Access-Control-Allow-Methods", methods},
                     {"Access-Control-Allow-Headers", "Content-Type, If-None-Match"},
                     {"Access-Control-Max-Age", "600"}};
    return reply;
}

}  // namespace muster::api
