#include "api/authenticate.hpp"

#include "api/request_body.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "rules/access/roles.hpp"
#include "rules/access/second_factor.hpp"
#include "rules/engagement/ingest_signature.hpp"
#include "rules/seal_names.hpp"
#include "service/access/seats.hpp"
#include "service/audit.hpp"
#include "service/callers.hpp"

namespace muster::api {
namespace {

using service::Caller;

void require_kind(const Endpoint& endpoint, const Caller& caller) {
    const bool is_for_modules = endpoint.access == Access::Module;
    if (is_for_modules != caller.module.has_value()) throw Error(ErrorCode::Forbidden);
    // A publishable key belongs in the query; it is not accepted as a bearer token.
    if (caller.publishable_key) throw Error(ErrorCode::Forbidden);
    if (is_for_modules) return;
    if (!caller.session) {
        if (endpoint.access != Access::OrganizationOrAdmin) throw Error(ErrorCode::Forbidden);
        return;
    }
    if (endpoint.access != Access::Session && !caller.session->verified_at) {
        throw Error(ErrorCode::TwoFactorRequired).detail("reason", "2FA_REQUIRED");
    }
}

constexpr const char* kOrganizationHeader = "X-Organization";
constexpr const char* kExpectHeader = "X-Expect-Organization";

// The organization in a header, which must be given once and be a UUID.
OrgId organization_in(const http::Request& request, const std::string& header,
                      std::string_view value) {
    reject_repeated(request, header);
    const auto organization = OrgId::parse(value);
    if (organization) return *organization;
    throw Error(ErrorCode::BadRequest)
        .detail("reason", header + " must be an organization's id (a lower-case UUID)");
}

// The caller acts on the named organization if they may (act_on_named_organization()).
void require_organization(const Caller& caller, const http::Request& request) {
    const OrgId& organization = caller.actor.organization;
    if (request.organization &&
        organization_in(request, kOrganizationHeader, *request.organization) != organization) {
        throw Error(ErrorCode::Forbidden).detail("field", kOrganizationHeader);
    }
    if (request.has_expect_organization &&
        organization_in(request, kExpectHeader, request.expect_organization) != organization) {
        throw Error(ErrorCode::Conflict).detail("field", kExpectHeader);
    }
}

void require_role(const Endpoint& endpoint, const Caller& caller) {
    if (!asks_for_seat(endpoint.access)) return;
    // Reading requires a seat too. A key has the rights of its role instead.
    const auto role = service::role_of(caller);
    if (!role || *role < endpoint.role) throw Error(ErrorCode::Forbidden);
}

[[noreturn]] void reject_signature(const char* reason) {
    throw Error(ErrorCode::SignatureInvalid).detail("reason", reason);
}

}  // namespace

void act_on_named_organization(service::Context& context, Caller& caller,
                               const http::Request& request) {
    if (!request.organization || !caller.session || !caller.session->verified_at) return;
    const auto named = OrgId::parse(*request.organization);
    if (!named || *named == caller.actor.organization) return;
    if (http::is_repeated(request, kOrganizationHeader)) return;
    const auto role = service::role_in(context, caller.session->admin_id, *named);
    if (!role) return;
    caller.actor.organization = *named;
    caller.session->role = role;
}

void authorize(const Endpoint& endpoint, const Caller& caller, const http::Request& request) {
    require_kind(endpoint, caller);
    require_organization(caller, request);
    require_role(endpoint, caller);
    // A stolen session must not make a credential or a seat that outlives it.
    if (needs_recent_factor(endpoint)) require_recent_factor(caller);
}

void require_recent_factor(const Caller& caller) {
    if (!caller.session) return;
    const auto& verified_at = caller.session->verified_at;
    if (verified_at && Timestamp::now() - *verified_at <= rules::kRecentSecondFactor) return;
    throw Error(ErrorCode::TwoFactorTooOld).detail("reason", "2FA_TOO_OLD");
}

void require_open_log(service::Context& context, const Endpoint& endpoint, const Caller& caller) {
    const bool is_exempt =
        endpoint.access == Access::Session || endpoint.access == Access::VerifiedSession ||
        endpoint.method == http::Method::Get || endpoint.method == http::Method::Delete;
    if (!caller.session || is_exempt) return;
    service::reject_full_audit_log(context, caller.actor.organization);
}

void require_signature(const service::Context& context, const service::ModuleCaller& module,
                       const http::Request& request, std::string_view body) {
    const auto signature = rules::parse_ingest_signature(request.signature);
    if (!signature) reject_signature("x-svc-signature is missing or malformed");
    if (!rules::is_recent(*signature, Timestamp::now())) {
        static_assert(rules::kSignatureWindow == std::chrono::seconds(300));
        reject_signature("the timestamp is more than 300 seconds off");
    }
    const auto secret = context.keys.open(module.sealed_signing_secret,
                                          rules::credential_seal_name(module.credential));
    // During a key rotation, another worker may have the right key.
    if (!secret) {
        throw Error(ErrorCode::ServiceUnavailable)
            .retry_after(1)
            .internal("the signing secret of credential " + module.credential.text() +
                      " cannot be decrypted");
    }
    if (!rules::is_signed_by(*secret, *signature, request.idempotency_key, body)) {
        reject_signature("the signature does not match the secret, Idempotency-Key and body");
    }
}

}  // namespace muster::api
