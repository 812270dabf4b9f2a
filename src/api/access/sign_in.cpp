// Serves /v1/auth/… and /api/auth/…: admin sign-in (specification 4.5, docs/api/sign-in.md "Admin
// sign-in"). session.cpp serves the resulting session.
#include "service/access/sign_in.hpp"
#include "api/access/factor_code.hpp"
#include "api/access/session_record.hpp"
#include "api/authenticate.hpp"
#include "api/console_session.hpp"
#include "api/groups.hpp"
#include "api/pages/cors.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "service/access/sessions.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Digits;
using json::Text;

// ---------------------------------------------------------------------------- bodies

struct CodeRequest {
    std::string email;
};
constexpr auto kCodeRequest = json::object<CodeRequest>(json::required(
    "email", &CodeRequest::email, json::Email{}, "Email address of the admin.", "ada@example.org"));

struct CodeVerification {
    std::string email;
    std::string otp;
};
constexpr auto kCodeVerification =
    json::object<CodeVerification>(json::required("email", &CodeVerification::email, json::Email{},
                                                  "Email address of the admin.", "ada@example.org"),
                                   json::required("otp", &CodeVerification::otp, Digits{8},
                                                  "The eight digits from the mail.", "68828936"));

constexpr auto kTotpCode =
    json::object<FactorCode>(json::required("code", &FactorCode::code, Digits{6}, "The code."));
constexpr auto kBackupCode =
    json::object<FactorCode>(json::required("code", &FactorCode::code, Text{1, 64}, "The code."));

// ---------------------------------------------------------------------------- replies

struct Accepted {
    bool success = true;
};
constexpr auto kAccepted = record<Accepted>(
    "Accepted", field<&Accepted::success>(
                    "success", "Always true, so that the reply does not reveal who is an admin."));

struct SignedIn {
    std::optional<std::string> token;
    Timestamp expires_at;
    TwoFactor two_factor;
    OrgId active_organization_id;
    std::vector<rules::Seat> seats;
};
constexpr auto kSignedIn = record<SignedIn>(
    "SignedIn",
    field<&SignedIn::token>(
        "token",
        "Bearer token of the session. Before the second factor it is valid for the session only. "
        "null for the console's pages, which get it in a cookie.",
        "gLiwirujstFoTgEkgXL9TEFl2GREVXf0tCPl5blSFQi1uwXhw"),
    field<&SignedIn::expires_at>(
        "expires_at", "Latest end of the session. It also ends 12 hours after its last request."),
    field<&SignedIn::two_factor>("two_factor", "State of the second factor."),
    field<&SignedIn::active_organization_id>("active_organization_id",
                                             "Id of the organization that the session acts on."),
    field<&SignedIn::seats>("seats", "The admin's seats, in the order of their creation."));

struct Enrollment {
    std::string totp_uri;
    std::string secret;
    std::vector<std::string> backup_codes;
};
constexpr auto kEnrollment = record<Enrollment>(
    "Enrollment",
    field<&Enrollment::totp_uri>(
        "totp_uri", "Address for the authenticator's QR code.",
        "otpauth://totp/Muster:ada%40example.org?secret=JT4XWQZW&issuer=Muster"),
    field<&Enrollment::secret>("secret", "The same secret for typing, in base32.", "JT4XWQZW"),
    field<&Enrollment::backup_codes>(
        "backup_codes", "Ten codes, each valid once in place of the authenticator's code.",
        R"(["zzhd-6edm-owwq-cx5q-5m3k-tq7a"])"));

struct Verified {
    std::optional<std::string> token;
    TwoFactor two_factor;
};
constexpr auto kVerified = record<Verified>(
    "Verified",
    field<&Verified::token>("token",
                            "The same token. It is now valid for all operations of the admin. "
                            "null for a session in a cookie, whose value has changed.",
                            "gLiwirujstFoTgEkgXL9TEFl2GREVXf0tCPl5blSFQi1uwXhw"),
    field<&Verified::two_factor>("two_factor", "State of the second factor."));

// ---------------------------------------------------------------------------- handlers

// Five attempts at a code, and one at the previous code.
constexpr std::int64_t kVerifiesARequest = 6;

// The client's own rate limit, in addition to the budgets of each email address: a client that
// tries many addresses creates a row for each.
void charge_client(Call& call, std::string_view what, std::int64_t factor) {
    const auto bucket = std::string(what) + http::network_of(call.request.remote_address);
    const auto limit = process::per_minute(factor * call.context.settings.limits.otp_requests);
    const auto verdict = call.worker.limiter.take(bucket, limit);
    if (!verdict.allowed) throw Error(ErrorCode::RateLimited).retry_after(verdict.retry_after);
}

auto request_code(Call& call, const CodeRequest& in) {
    charge_client(call, "otp request ", 1);
    service::request_sign_in_code(call.context, in.email);
    return Accepted{};
}

// A reply with the session's token: in the body, or in the cookie for the console's pages.
template <class Reply>
Answer<Reply> with_token(Reply reply, const std::string& token, bool is_in_cookie) {
    if (is_in_cookie) return {.value = reply, .headers = {console_session_cookie(token)}};
    reply.token = token;
    return {.value = reply};
}

Answer<SignedIn> verify_code(Call& call, const CodeVerification& in) {
    const bool is_for_console = call.request.has_console_header;
    if (is_for_console) require_console(call.context.settings.console.origin, call.request);
    charge_client(call, "otp verify ", kVerifiesARequest);
    const auto client = rules::session_client(call.request.user_agent, call.request.geo_country);
    // The browser forgets its previous session, so that one ends.
    const auto previous =
        is_for_console ? console_session_token(call.context.settings.console.origin, call.request)
                       : std::nullopt;
    const auto signed_in = service::verify_sign_in_code(call.context, in.email, in.otp,
                                                        call.request.request_id, client, previous);
    if (!signed_in) reject_code();
    const rules::Session& session = signed_in->opened.session;
    return with_token(SignedIn{{},
                               session.expires_at,
                               {session.is_enrolled, false},
                               session.active_organization_id,
                               signed_in->seats},
                      signed_in->opened.token.reveal(), is_for_console);
}

auto enable_two_factor(Call& call, const Nothing&) {
    const auto made = service::enable_two_factor(call.context, call.session());
    Enrollment reply{made.uri.reveal(), made.secret.reveal(), {}};
    for (const Secret& code : made.backup_codes) reply.backup_codes.push_back(code.reveal());
    return reply;
}

// The attempt of a sign-in, which gives the cookie of a session a new value.
service::FactorAttempt sign_in_attempt(const Call& call, const FactorCode& in) {
    auto attempt = attempt_of(call, in);
    attempt.replaces_token = call.has_session_cookie;
    return attempt;
}

// A bearer token remains valid; the specification requires it in this reply too.
Answer<Verified> verified(const Call& call, const service::FactorResult& result) {
    if (!result.is_right) reject_code();
    const std::string token = call.has_session_cookie
                                  ? result.new_token.reveal()
                                  : std::string(http::bearer_token(call.request));
    return with_token(Verified{{}, {true, true}}, token, call.has_session_cookie);
}

auto verify_totp(Call& call, const FactorCode& in) {
    return verified(call, service::verify_totp(call.context, sign_in_attempt(call, in)));
}

auto verify_backup_code(Call& call, const FactorCode& in) {
    return verified(call, service::verify_backup_code(call.context, sign_in_attempt(call, in)));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kRequestErrors = {ErrorCode::RateLimited};
constexpr std::array kVerifyErrors = {ErrorCode::Unauthorized, ErrorCode::OriginNotAllowed,
                                      ErrorCode::RateLimited};
constexpr std::array kEnableErrors = {ErrorCode::InvalidState};
constexpr std::array kFactorErrors = {ErrorCode::InvalidState, ErrorCode::RateLimited};

constexpr std::array kSignIn = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/auth/email-otp/request",
        .operation = "requestSignInCode",
        .summary = "Send a sign-in code by mail",
        .description =
            "Mails a sign-in code of eight digits to an admin. The code works once, within five "
            "minutes; a new code replaces it. The reply is the same for an address that is not "
            "an admin's. An address may request one code per minute and five per hour.",
        .access = Access::Open,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "CodeRequest",
        .body_schema = schema_of<kCodeRequest>,
        .body_example = R"({"email": "ada@example.org"})",
        .reply = {200,
                  "If the address is an admin's, a code was sent. The reply is always the same."},
        .errors = kRequestErrors,
        .handler = decoded<kCodeRequest, answers<kAccepted, request_code>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/auth/email-otp/verify",
        .operation = "verifySignInCode",
        .summary = "Sign in with the code",
        .description =
            "Exchanges the mailed code for a session token. Verify the second factor next; before "
            "that, the token is valid for the session only. A code allows five attempts, an "
            "address 20 wrong codes per hour. A page of the console sends X-Muster-Console: 1 and "
            "gets the token in a cookie.",
        .access = Access::Open,
        .takes_console_header = true,
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
        .summary = "Start to enroll an authenticator",
        .description =
            "Starts the enrollment of an authenticator. Only this reply contains the secret and ten "
            "backup codes; they are valid after verify-totp succeeds. Until then, another call "
            "replaces them. If the admin is already enrolled, the reply is 409 INVALID_STATE.",
        .access = Access::Session,
        .body_limit = kSmallBody,
        .body_component = "Nothing",
        .body_schema = schema_of<kNothing>,
        .body_example = "{}",
        .reply = {200, "A secret and ten backup codes, valid after verify-totp succeeds."},
        .errors = kEnableErrors,
        .handler = decoded<kNothing, answers<kEnrollment, enable_two_factor>>},
    Endpoint{
        .method = Method::Post,
        .path = "/api/auth/two-factor/verify-totp",
        .operation = "verifyTotp",
        .summary = "Verify the second factor with an authenticator's code",
        .description =
            "Verifies the six digits of the authenticator and completes an enrollment. The same "
            "token is then valid for all operations; after 2FA_TOO_OLD, call it again. A code works "
            "once, up to 30 seconds early or late. Five wrong codes in a row pause the second factor "
            "for 15 minutes. Each further pause is twice as long, up to a day.",
        .access = Access::Session,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "TotpCode",
        .body_schema = schema_of<kTotpCode>,
        .body_example = R"({"code": "123456"})",
        .reply = {200, "The same token, with a verified second factor."},
        .errors = kFactorErrors,
        .handler = decoded<kTotpCode, answers<kVerified, verify_totp>>},
    Endpoint{
        .method = Method::Post,
        .path = "/api/auth/two-factor/verify-backup-code",
        .operation = "verifyBackupCode",
        .summary = "Verify the second factor with a backup code",
        .description =
            "Verifies a backup code in place of the authenticator's code and uses it up. Case, "
            "spaces and dashes are ignored. It shares the limit of five wrong codes in a row "
            "with verify-totp.",
        .access = Access::Session,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "BackupCode",
        .body_schema = schema_of<kBackupCode>,
        .body_example = R"({"code": "abcd-efgh-ijkl-mnop-qrst-uvwx"})",
        .reply = {200, "The same token, with a verified second factor."},
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
