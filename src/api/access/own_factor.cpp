// Serves /v1/two-factor…: admins change their own second factor
// (docs/api/sign-in.md "Changing the second factor"). sign_in.cpp enrolls and verifies it.
#include "api/access/factor_code.hpp"
#include "api/groups.hpp"

namespace muster::api {
namespace {

using http::Method;

// ---------------------------------------------------------------------------- bodies

constexpr auto kCurrentCode = json::object<FactorCode>(json::required(
    "code", &FactorCode::code, json::Text{1, 64},
    "A current code of the authenticator, or a backup code, which is used up.", "492039"));
constexpr auto kNextCode = json::object<FactorCode>(json::required(
    "code", &FactorCode::code, json::Digits{6}, "A code of the new authenticator.", "492039"));

// ---------------------------------------------------------------------------- replies

struct BackupCodes {
    std::vector<std::string> backup_codes;
};
constexpr auto kBackupCodeList = record<BackupCodes>(
    "BackupCodes", field<&BackupCodes::backup_codes>(
                       "backup_codes",
                       "Ten new codes, each valid once in place of the authenticator's code. The "
                       "previous ones are invalid.",
                       R"(["zzhd-6edm-owwq-cx5q-5m3k-tq7a"])"));

struct ShownAuthenticator {
    std::string totp_uri;
    std::string secret;
};
constexpr auto kAuthenticator = record<ShownAuthenticator>(
    "NextAuthenticator",
    field<&ShownAuthenticator::totp_uri>(
        "totp_uri", "Address for the new authenticator's QR code.",
        "otpauth://totp/Muster:ada%40example.org?secret=JT4XWQZW&issuer=Muster"),
    field<&ShownAuthenticator::secret>("secret", "The same secret for typing, in base32.",
                                       "JT4XWQZW"));

// ---------------------------------------------------------------------------- handlers

// People type a code in groups.
FactorCode without_spaces(FactorCode in) {
    std::erase(in.code, ' ');
    return in;
}

auto replace_backup_codes(Call& call, const FactorCode& typed) {
    const FactorCode in = without_spaces(typed);
    const auto codes = service::replace_backup_codes(call.context, attempt_of(call, in));
    if (codes.empty()) reject_code();
    BackupCodes reply;
    for (const Secret& code : codes) reply.backup_codes.push_back(code.reveal());
    return reply;
}

auto replace_authenticator(Call& call, const FactorCode& typed) {
    const FactorCode in = without_spaces(typed);
    const auto next = service::replace_authenticator(call.context, attempt_of(call, in));
    if (!next) reject_code();
    return ShownAuthenticator{next->uri.reveal(), next->secret.reveal()};
}

void confirm_authenticator(Call& call, const FactorCode& in) {
    if (!service::confirm_authenticator(call.context, attempt_of(call, in))) reject_code();
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kCodeErrors = {ErrorCode::RateLimited};
constexpr std::array kConfirmErrors = {ErrorCode::InvalidState, ErrorCode::RateLimited};

constexpr std::array kOwnFactor = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/two-factor/backup-codes",
        .operation = "replaceBackupCodes",
        .summary = "Replace the backup codes",
        .description =
            "Replaces the admin's backup codes by ten new ones. Only this reply contains them. A "
            "current code of the second factor is required. Wrong codes count towards the pause of "
            "verify-totp. The admin and up to 20 owners of the admin's organizations get a mail.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "CurrentCode",
        .body_schema = schema_of<kCurrentCode>,
        .body_example = R"({"code": "492039"})",
        .reply = {200, "The new backup codes."},
        .errors = kCodeErrors,
        .handler = decoded<kCurrentCode, answers<kBackupCodeList, replace_backup_codes>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/two-factor/replace",
        .operation = "replaceAuthenticator",
        .summary = "Start to replace the authenticator",
        .description =
            "Returns the secret of another authenticator. The current one stays valid until the "
            "same session confirms a code of the new one within 15 minutes. Until then, another "
            "call replaces the secret. A current code of the second factor is required; wrong "
            "codes count towards the pause of verify-totp.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "CurrentCode",
        .body_schema = schema_of<kCurrentCode>,
        .body_example = R"({"code": "492039"})",
        .reply = {200, "The secret of the new authenticator."},
        .errors = kCodeErrors,
        .handler = decoded<kCurrentCode, answers<kAuthenticator, replace_authenticator>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/two-factor/replace/confirm",
        .operation = "confirmAuthenticator",
        .summary = "Confirm the new authenticator",
        .description =
            "Verifies a code of the new authenticator, which then replaces the current one. Backup "
            "codes and sessions stay valid. Without a replacement that this session began in the "
            "last 15 minutes, the reply is 409 INVALID_STATE. The admin and up to 20 owners of "
            "the admin's organizations get a mail.",
        .access = Access::VerifiedSession,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NextCode",
        .body_schema = schema_of<kNextCode>,
        .body_example = R"({"code": "492039"})",
        .reply = {204, "The authenticator is replaced."},
        .errors = kConfirmErrors,
        .handler = decoded<kNextCode, answers_nothing<confirm_authenticator>>},
};
static_assert(well_formed(kOwnFactor, "/v1/two-factor"));

}  // namespace

std::span<const Endpoint> own_factor_endpoints() {
    return kOwnFactor;
}

}  // namespace muster::api
