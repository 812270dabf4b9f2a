#include "api/request_body.hpp"

#include "base/error.hpp"
#include "base/gzip.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::api {
namespace {

using http::Request;

// JSON of import rows has five to nine times the length of its gzip.
constexpr std::size_t kUsualCompression = 8;

bool is_plain(const Request& request) {
    const std::string_view coding = trimmed_ascii(request.content_encoding);
    return coding.empty() || equal_ignoring_case(coding, "identity");
}

bool is_media_type(std::string_view content_type, std::string_view expected) {
    return equal_ignoring_case(trimmed_ascii(content_type.substr(0, content_type.find(';'))),
                               expected);
}

// navigator.sendBeacon() sends JSON as text/plain to avoid a preflight.
bool is_json(const Request& request, const Endpoint& endpoint) {
    return is_media_type(request.content_type, "application/json") ||
           (endpoint.access == Access::TrackingKey &&
            is_media_type(request.content_type, "text/plain"));
}

[[noreturn]] void reject_length(const Endpoint& endpoint) {
    throw Error(ErrorCode::PayloadTooLarge)
        .detail("limit_bytes", Json::UInt64(endpoint.body_limit));
}

std::string decompressed(std::string_view body, const Endpoint& endpoint) {
    auto text = gunzip(body, endpoint.body_limit);
    if (text.result == Gunzip::TooLong) reject_length(endpoint);
    if (text.result == Gunzip::TooManyBlocks) {
        throw Error(ErrorCode::BadRequest)
            .detail("reason", "the gzip body has too many blocks for its text; flush less often");
    }
    if (text.result == Gunzip::Malformed) {
        throw Error(ErrorCode::BadRequest).detail("reason", "the body is not complete gzip");
    }
    return std::move(text.text);
}

// The body without its Content-Encoding.
std::string decoded_body(std::string body, const Request& request, const Endpoint& endpoint) {
    if (is_plain(request)) return body;
    const std::string_view coding = trimmed_ascii(request.content_encoding);
    if (endpoint.accepts_gzip && equal_ignoring_case(coding, "gzip")) {
        return decompressed(body, endpoint);
    }
    throw Error(ErrorCode::UnsupportedMediaType)
        .detail("reason", endpoint.accepts_gzip
                              ? "the Content-Encoding is not supported; use gzip, or none"
                              : "the Content-Encoding is not supported; send the body without one");
}

// The text of a body without a byte.
std::string empty_body(const Endpoint& endpoint) {
    if (!endpoint.body_required) return {};
    throw Error(ErrorCode::BadRequest).detail("reason", "the body is empty");
}

}  // namespace

void reject_repeated(const Request& request, std::string_view header) {
    if (!http::is_repeated(request, header)) return;
    throw Error(ErrorCode::BadRequest)
        .detail("reason", "the header " + std::string(header) + " is repeated; send it once");
}

std::size_t expected_length(const Request& request, const Endpoint& endpoint) {
    const std::size_t most = endpoint.body_limit;
    const std::size_t announced = std::min(request.announced_length.value_or(most), most);
    return is_plain(request) ? announced : std::min(announced * kUsualCompression, most);
}

std::string read_body(const Request& request, const Endpoint& endpoint) {
    auto body = request.read_body(endpoint.body_limit);
    if (!body) reject_length(endpoint);
    if (body->empty()) return empty_body(endpoint);
    reject_repeated(request, "Content-Type");
    if (endpoint.body_limit > 0 && !is_json(request, endpoint)) {
        throw Error(ErrorCode::UnsupportedMediaType);
    }
    std::string text = decoded_body(std::move(*body), request, endpoint);
    if (text.empty()) return empty_body(endpoint);
    return text;
}

}  // namespace muster::api
