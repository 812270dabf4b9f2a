// Serves /v1/auth/… and /api/auth/…: an admin's sign-in (specification 4.5, docs/api.md "Admin
// sign-in"). The session that comes of it is in session.cpp.
#include "service/access/sign_in.hpp"
#include "api/access/session_record.hpp"
#include "api/authenticate.hpp"
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "service/access/two_factor.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Digits;
using json::Text;

// ---------------------------------------------------------------------------- bodies

struct CodeRequest {
    std::string email;
};
constexpr auto kCodeRequest =
    json::object<CodeRequest>(json::required("email", &CodeRequest::email, json::Email{}));

struct CodeVerification {
    std::string email;
    std::string otp;
};
constexpr auto kCodeVerification =
    json::object<CodeVerification>(json::required("email", &CodeVerification::email, json::Email{}),
                                   json::required("otp", &CodeVerification::otp, Digits{8}));

struct FactorCode {
    std::string code;
};
constexpr auto kTotpCode =
    json::object<FactorCode>(json::required("code", &FactorCode::code, Digits{6}));
constexpr auto kBackupCode =
    json::object<FactorCode>(json::required("code", &FactorCode::code, Text{1, 64}));

// ---------------------------------------------------------------------------- replies

struct Accepted {
    bool success = true;
};
constexpr auto kAccepted = record<Accepted>("Accepted", field<&Accepted::success>("success"));

struct SignedIn {
    std::string token;
    Timestamp expires_at;
    TwoFactor two_factor;
    OrgId active_organization_id;
    std::vector<rules::Seat> seats;
};
constexpr auto kSignedIn = record<SignedIn>(
    "SignedIn", field<&SignedIn::token>("token"), field<&SignedIn::expires_at>("expires_at"),
    field<&SignedIn::two_factor>("two_factor"),
    field<&SignedIn::active_organization_id>("active_organization_id"),
    field<&SignedIn::seats>("seats"));

struct Enrollment {
    std::string totp_uri;
    std::string secret;
    std::vector<std::string> backup_codes;
};
constexpr auto kEnrollment = record<Enrollment>(
    "Enrollment", field<&Enrollment::totp_uri>("totp_uri"), field<&Enrollment::secret>("secret"),
    field<&Enrollment::backup_codes>("backup_codes"));

struct Verified {
    std::string token;
    TwoFactor two_factor;
};
constexpr auto kVerified = record<Verified>("Verified", field<&Verified::token>("token"),
                                            field<&Verified::two_factor>("two_factor"));

// ---------------------------------------------------------------------------- handlers

// Five tries at a code, and one for the code before.
constexpr std::int64_t kVerifiesARequest = 6;

// Beside the budgets of an address of mail, the client's own: who tries one address after another
// leaves a row for each.
void charge_client(Call& call, std::string_view what, std::int64_t factor) {
    const auto bucket = std::string(what) + http::network_of(call.request.remote_address);
    const auto limit = process::a_minute(factor * call.context.settings.limits.otp_requests);
    const auto verdict = call.worker.limiter.take(bucket, limit);
    if (!verdict.allowed) throw Error(ErrorCode::RateLimited).retry_after(verdict.retry_after);
}

auto request_code(Call& call, const CodeRequest& in) {
    charge_client(call, "otp request ", 1);
    service::request_sign_in_code(call.context, in.email);
    return Accepted{};
}

auto verify_code(Call& call, const CodeVerification& in) {
    charge_client(call, "otp verify ", kVerifiesARequest);
    const auto signed_in = service::verify_sign_in_code(call.context, in.email, in.otp);
    if (!signed_in) throw Error(ErrorCode::Unauthorized);
    const rules::Session& session = signed_in->opened.session;
    return SignedIn{signed_in->opened.token.reveal(),
                    session.expires_at,
                    {session.is_enrolled, false},
                    session.active_organization_id,
                    signed_in->seats};
}

auto enable_two_factor(Call& call, const Nothing&) {
    const auto made = service::enable_two_factor(call.context, call.session());
    Enrollment reply{made.uri.reveal(), made.secret.reveal(), {}};
    for (const Secret& code : made.backup_codes) reply.backup_codes.push_back(code.reveal());
    return reply;
}

// The token that was shown at sign-in stays the same one; it is said again as the specification
// has it.
Verified verified(const Call& call, bool is_right) {
    if (!is_right) throw Error(ErrorCode::Unauthorized);
    return {std::string(http::bearer_token(call.request)), {true, true}};
}

auto verify_totp(Call& call, const FactorCode& in) {
    return verified(
        call, service::verify_totp(call.context, call.session(), in.code, call.request.request_id));
}

auto verify_backup_code(Call& call, const FactorCode& in) {
    return verified(call, service::verify_backup_code(call.context, call.session(), in.code,
                                                      call.request.request_id));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kRequestErrors = {ErrorCode::RateLimited};
constexpr std::array kVerifyErrors = {ErrorCode::Unauthorized, ErrorCode::RateLimited};
constexpr std::array kEnableErrors = {ErrorCode::InvalidState};
constexpr std::array kFactorErrors = {ErrorCode::InvalidState, ErrorCode::RateLimited};

constexpr std::array kSignIn = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/auth/email-otp/request",
        .operation = "requestSignInCode",
        .summary = "Have a sign-in code sent by mail",
        .access = Access::Open,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "CodeRequest",
        .body_schema = schema_of<kCodeRequest>,
        .body_example = R"({"email": "ada@example.org"})",
        .reply = {200, "A code is on its way, if the address is an admin's; the answer tells not."},
        .errors = kRequestErrors,
        .handler = decoded<kCodeRequest, answers<kAccepted, request_code>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/auth/email-otp/verify",
             .operation = "verifySignInCode",
             .summary = "Sign in with the code; the token wants its second factor next",
             .access = Access::Open,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "CodeVerification",
             .body_schema = schema_of<kCodeVerification>,
             .body_example = R"({"email": "ada@example.org", "otp": "12345678"})",
             .reply = {200, "The session's token."},
             .errors = kVerifyErrors,
             .handler = decoded<kCodeVerification, answers<kSignedIn, verify_code>>},
};
static_assert(well_formed(kSignIn, "/v1/auth"));

constexpr std::array kTwoFactor = {
    Endpoint{
        .method = Method::Post,
        .path = "/api/auth/two-factor/enable",
        .operation = "enableTwoFactor",
        .summary = "Begin to enroll an authenticator; shown this once",
        .access = Access::Session,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {200, "A secret and ten backup codes, which count once verify-totp succeeds."},
        .errors = kEnableErrors,
        .handler = decoded<kNothing, answers<kEnrollment, enable_two_factor>>},
    Endpoint{.method = Method::Post,
             .path = "/api/auth/two-factor/verify-totp",
             .operation = "verifyTotp",
             .summary = "Pass the second factor with an authenticator's code",
             .access = Access::Session,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "TotpCode",
             .body_schema = schema_of<kTotpCode>,
             .body_example = R"({"code": "123456"})",
             .reply = {200, "The same token, past its second factor."},
             .errors = kFactorErrors,
             .handler = decoded<kTotpCode, answers<kVerified, verify_totp>>},
    Endpoint{.method = Method::Post,
             .path = "/api/auth/two-factor/verify-backup-code",
             .operation = "verifyBackupCode",
             .summary = "Pass the second factor with a backup code, which is used up",
             .access = Access::Session,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "BackupCode",
             .body_schema = schema_of<kBackupCode>,
             .body_example = R"({"code": "abcd-efgh-ijkl-mnop"})",
             .reply = {200, "The same token, past its second factor."},
             .errors = kFactorErrors,
             .handler = decoded<kBackupCode, answers<kVerified, verify_backup_code>>},
};
static_assert(well_formed(kTwoFactor, "/api/auth"));

}  // namespace

std::span<const Endpoint> sign_in_endpoints() {
    return kSignIn;
}

std::span<const Endpoint> two_factor_endpoints() {
    return kTwoFactor;
}

}  // namespace muster::api
