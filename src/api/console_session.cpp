#include "api/console_session.hpp"

#include "api/pages/cors.hpp"
#include "service/callers.hpp"

namespace muster::api {
namespace {

// A browser accepts a name with this prefix only from this host, over HTTPS, without a Domain.
constexpr std::string_view kSessionCookie = "__Host-muster-session";
constexpr std::string_view kCookieScope = "; Path=/; Secure; HttpOnly; SameSite=Strict";

http::Header session_cookie(std::string_view value, std::string_view life) {
    return {
        "Set-Cookie",
        std::string(kSessionCookie).append("=").append(value).append(kCookieScope).append(life)};
}

}  // namespace

std::optional<std::string> console_session_token(std::string_view console_origin,
                                                 const http::Request& request) {
    if (!request.authorization.empty()) return std::nullopt;
    std::string token = http::cookie_value(request.cookie, kSessionCookie);
    if (token.empty() || !is_from_console(console_origin, request)) return std::nullopt;
    if (!http::is_safe(request.method) && !request.has_console_header) return std::nullopt;
    return service::is_session_token(token) ? token : "";
}

http::Header console_session_cookie(std::string_view token) {
    return session_cookie(token, "");
}

std::vector<http::Header> console_session_end() {
    return {session_cookie("", "; Max-Age=0"), {"Clear-Site-Data", "\"storage\""}};
}

}  // namespace muster::api
