// Reads the replies of providers (rules/connections/oauth.hpp). Replies are untrusted: a reply
// without a clearly valid token is a failure, and only a known error code is passed on.
#include "base/text.hpp"
#include "json/json_body.hpp"
#include "rules/connections/oauth.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

using json::JsonIn;

constexpr std::size_t kLongestToken = 4096;
constexpr std::size_t kLongestDetail = 255;
// Longer lives are shortened to this, so that dates do not overflow.
constexpr std::int64_t kLongestLifeSeconds = 10L * 365 * 86'400;

constexpr const char* kNoJson = "no_json";
constexpr const char* kInvalidAnswer = "invalid_answer";

using Kind = TokenFailure::Kind;

// Codes that any provider may send: RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5, RFC
// 8707, OpenID Connect, and names in wide use for outages and rate limits.
constexpr std::array<std::string_view, 27> kErrorCodes = {
    "access_denied",
    "account_selection_required",
    "authorization_pending",
    "consent_required",
    "expired_token",
    "fatal_error",
    "interaction_required",
    "internal_error",
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "invalid_token",
    "login_required",
    "rate_limited",
    "ratelimited",
    "server_error",
    "service_unavailable",
    "slow_down",
    "temporarily_unavailable",
    "unauthorized",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_response_type",
    "unsupported_token_type",
    "validation_error",
};
// Longer than any known code.
constexpr std::size_t kLongestCode = 64;

bool is_in(const Names& names, std::string_view name) {
    return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

// A reply that is a JSON object, with its parser. An object with a duplicate key is rejected,
// because two readers could interpret it differently.
class Answer {
  public:
    explicit Answer(std::string_view body) {
        const auto root = parser_.parse_object(body);
        if (!root) return;
        is_object_ = true;
        for (const auto& [key, value] : *root) {
            if (!members_.try_emplace(key, value).second) is_object_ = false;
        }
    }

    bool is_object() const { return is_object_; }
    // nullptr if it is missing or null.
    const JsonIn* find(std::string_view name) const {
        const auto found = members_.find(name);
        return found == members_.end() || found->second.is_null() ? nullptr : &found->second;
    }
    // nullopt unless it is a string.
    std::optional<std::string_view> text(std::string_view name) const {
        const JsonIn* value = find(name);
        return value == nullptr ? std::nullopt : value->string();
    }

  private:
    json::JsonParser parser_;
    std::map<std::string_view, JsonIn> members_;
    bool is_object_ = false;
};

// RFC 6749 uses `error`, Notion's API `code`, and HubSpot `status`.
std::string error_code(const Provider& provider, const Answer& answer) {
    for (const std::string_view name : {"error", "code", "status"}) {
        if (const auto text = answer.text(name)) {
            if (std::string code = known_error_code(provider, *text); !code.empty()) return code;
        }
    }
    return "";
}

Kind kind_of(const Provider& provider, int status, std::string_view code) {
    if (is_in(provider.revocations, code)) return Kind::Revoked;
    if (code == "invalid_grant" || is_in(provider.refusals, code)) return Kind::Refused;
    // 401 means an unknown client (RFC 6749 section 5.2), whatever the code.
    const bool is_unknown_client = code == "invalid_client" || code == "unauthorized_client" ||
                                   is_in(provider.misconfigurations, code) || status == 401;
    return is_unknown_client ? Kind::Misconfigured : Kind::Unavailable;
}

TokenFailure failure_of(const Provider& provider, int status, const Answer& answer) {
    std::string code = error_code(provider, answer);
    const Kind kind = kind_of(provider, status, code);
    if (code.empty()) code = "http_" + std::to_string(status);
    return {kind, std::move(code)};
}

TokenFailure unavailable(std::string code) {
    return {Kind::Unavailable, std::move(code)};
}

bool is_token(std::string_view text) {
    return !text.empty() && text.size() <= kLongestToken &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Checks the three ways in which a reply can report an error.
bool has_error(const Answer& answer) {
    if (const JsonIn* ok = answer.find("ok")) {
        if (ok->boolean() != true) return true;
    }
    const JsonIn* error = answer.find("error");
    return error != nullptr && error->string() != "";
}

bool is_known_type(const Provider& provider, const Answer& answer) {
    if (answer.find("token_type") == nullptr) return true;  // Shopify omits it
    const auto type = answer.text("token_type");
    return type && (equal_ignoring_case(*type, "bearer") || is_in(provider.token_types, *type));
}

// Seconds as a number or as text; nullopt for anything else and for negative values.
std::optional<std::int64_t> seconds_of(const JsonIn& value) {
    auto seconds = value.number();
    if (const auto text = value.string()) seconds = parse_number<double>(*text);
    if (!seconds || !(*seconds >= 0)) return std::nullopt;  // also rejects NaN
    return *seconds < static_cast<double>(kLongestLifeSeconds) ? static_cast<std::int64_t>(*seconds)
                                                               : kLongestLifeSeconds;
}

// Returns false for an invalid lifetime. A missing value and 0 mean that the token does not expire.
bool read_life(const Provider& provider, const Answer& answer, Tokens& tokens) {
    if (provider.life == TokenLife::Endless) return true;
    const JsonIn* expires_in = answer.find("expires_in");
    if (expires_in == nullptr) return true;
    const auto seconds = seconds_of(*expires_in);
    if (seconds && *seconds > 0) tokens.life = Milliseconds(*seconds * 1000);
    return seconds.has_value();
}

// An invalid refresh token makes the whole reply invalid. To ignore it would force an admin to
// connect again later.
bool read_refresh_token(const Provider& provider, const Answer& answer, Tokens& tokens) {
    const JsonIn* value = answer.find("refresh_token");
    if (provider.refresh == Refresh::Never || value == nullptr) return true;
    const auto text = answer.text("refresh_token");
    if (!text) return false;
    if (text->empty()) return true;
    if (!is_token(*text)) return false;
    tokens.refresh_token = Secret(std::string(*text));
    return true;
}

// A text or an integer. `name` may point into an object ("team.id").
std::optional<std::string> detail_of(const Answer& answer, std::string_view name) {
    const std::size_t dot = name.find('.');
    const JsonIn* value = answer.find(name.substr(0, dot));
    if (value == nullptr) return std::nullopt;
    const auto leaf = dot == std::string_view::npos ? *value : value->member(name.substr(dot + 1));
    if (!leaf) return std::nullopt;
    std::string text(leaf->string().value_or(""));
    if (const auto number = leaf->integer()) text = std::to_string(*number);
    if (text.empty() || !is_kept_detail(text)) return std::nullopt;
    return text;
}

TokenAnswer read_tokens(const Provider& provider, const Answer& answer) {
    const auto token = answer.text("access_token");
    Tokens tokens;
    if (!token || !is_token(*token) || !is_known_type(provider, answer) ||
        !read_refresh_token(provider, answer, tokens) || !read_life(provider, answer, tokens)) {
        return unavailable(kInvalidAnswer);
    }
    tokens.access_token = Secret(std::string(*token));
    if (auto scope = detail_of(answer, "scope")) tokens.details["scope"] = *std::move(scope);
    for (const std::string_view name : provider.answer_fields) {
        if (name.empty()) break;
        if (auto text = detail_of(answer, name)) {
            tokens.details[std::string(name)] = *std::move(text);
        }
    }
    return tokens;
}

}  // namespace

std::string known_error_code(const Provider& provider, std::string_view text) {
    std::string code(text.substr(0, kLongestCode));
    ascii_lower(code);
    const bool is_known =
        std::find(kErrorCodes.begin(), kErrorCodes.end(), code) != kErrorCodes.end() ||
        is_in(provider.refusals, code) || is_in(provider.revocations, code) ||
        is_in(provider.misconfigurations, code);
    return is_known ? code : "";
}

bool is_kept_detail(std::string_view text) {
    return text.size() <= kLongestDetail && is_utf8(text) && !has_control(text);
}

TokenAnswer read_token_answer(const Provider& provider, int status, std::string_view body) {
    if (status >= 300 && status <= 399) return unavailable("redirect");
    if (status == 429 || status < 200 || status >= 500) {
        return unavailable("http_" + std::to_string(status));
    }
    const Answer answer(body);
    const bool is_success = status <= 299;
    if (is_success && !answer.is_object()) return unavailable(kNoJson);
    if (is_success && !has_error(answer)) return read_tokens(provider, answer);
    return failure_of(provider, status, answer);
}

std::optional<std::map<std::string, std::string>> read_lookup_answer(const Provider& provider,
                                                                     int status,
                                                                     std::string_view body) {
    if (status < 200 || status > 299) return std::nullopt;
    const Answer answer(body);
    if (!answer.is_object()) return std::nullopt;
    std::map<std::string, std::string> found;
    for (const std::string_view name : provider.lookup_fields) {
        if (name.empty()) break;
        auto text = detail_of(answer, name);
        if (!text) return std::nullopt;
        found[std::string(name)] = *std::move(text);
    }
    return found;
}

std::optional<std::string> revocation_failure(const Provider& provider, int status,
                                              std::string_view body) {
    const Answer answer(body);
    const bool is_success = status >= 200 && status <= 299;
    if (is_success && !(answer.is_object() && has_error(answer))) return std::nullopt;
    TokenFailure failure = failure_of(provider, status, answer);
    const bool says_unknown = status == 400 || status == 404 || status == 410 || status == 422;
    const bool is_unknown = is_success
                                ? failure.kind == Kind::Revoked || failure.kind == Kind::Refused
                                : says_unknown && failure.kind != Kind::Misconfigured;
    return is_unknown ? std::nullopt : std::optional(std::move(failure.code));
}

}  // namespace muster::rules
