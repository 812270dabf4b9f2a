#include "api/authenticate.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "service/organizations.hpp"

namespace muster::api {
namespace {

// The token, or "" for anything that is not one bearer credential (RFC 6750; the scheme's case does
// not matter).
std::string_view bearer_token(std::string_view header) {
    constexpr std::string_view kScheme = "Bearer ";
    if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return "";
    return trimmed(header.substr(kScheme.size()));
}

}  // namespace

service::Actor authenticate(service::Context& context, const http::Request& request) {
    const std::string_view token = bearer_token(request.authorization);
    const auto actor = token.empty() ? std::nullopt : service::verify_api_key(context, token);
    if (!actor) throw Error(ErrorCode::Unauthorized);
    return *actor;
}

}  // namespace muster::api
