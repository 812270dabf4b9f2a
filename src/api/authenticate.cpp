#include "api/authenticate.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace muster::api {
namespace {

using service::Caller;

void require_kind(const Endpoint& endpoint, const Caller& caller) {
    if (!caller.session) {
        if (endpoint.access != Access::OrganizationOrAdmin) throw Error(ErrorCode::Forbidden);
        return;
    }
    if (endpoint.access != Access::Session && !caller.session->verified_at) {
        throw Error(ErrorCode::TwoFactorRequired).detail("reason", "2FA_REQUIRED");
    }
}

void require_organization(const Caller& caller, const http::Request& request) {
    if (!request.has_expect_organization) return;
    const auto expected = OrgId::parse(request.expect_organization);
    if (!expected) {
        throw Error(ErrorCode::BadRequest)
            .detail("reason", "X-Expect-Organization wants an organization's id");
    }
    if (*expected != caller.actor.organization) {
        throw Error(ErrorCode::Conflict).detail("field", "X-Expect-Organization");
    }
}

void require_role(const Endpoint& endpoint, const Caller& caller) {
    const bool asks =
        endpoint.access == Access::Admin || endpoint.access == Access::OrganizationOrAdmin;
    if (!asks || !caller.session) return;
    // A seat that is gone may not even read.
    if (!caller.session->role || *caller.session->role < endpoint.role) {
        throw Error(ErrorCode::Forbidden);
    }
}

}  // namespace

std::string_view bearer_token(const http::Request& request) {
    constexpr std::string_view kScheme = "Bearer ";  // RFC 6750; its case does not matter
    const std::string_view header = request.authorization;
    if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return "";
    return trimmed(header.substr(kScheme.size()));
}

Caller authenticate(service::Context& context, const http::Request& request) {
    const std::string_view token = bearer_token(request);
    auto caller = token.empty() ? std::nullopt : service::identify(context, token);
    if (!caller) throw Error(ErrorCode::Unauthorized);
    caller->actor.request_id = request.request_id;
    return std::move(*caller);
}

void authorize(const Endpoint& endpoint, const Caller& caller, const http::Request& request) {
    require_kind(endpoint, caller);
    require_organization(caller, request);
    require_role(endpoint, caller);
}

}  // namespace muster::api
