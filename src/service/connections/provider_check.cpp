#include "service/connections/provider_check.hpp"

#include "base/crypto.hpp"
#include "base/settings.hpp"
#include "net/oauth.hpp"
#include "rules/connections/oauth.hpp"

#include <array>
#include <variant>

namespace muster::service {
namespace {

using Kind = rules::TokenFailure::Kind;

// No provider gives such a code; who reads its log sees what it was.
constexpr const char* kNoCode = "muster-provider-check";

rules::OAuthRequest impossible_request(const Settings& settings, const rules::OAuthClient& client) {
    const rules::AuthorizationRequest request = {
        .redirect_uri = settings.console.origin + "/v1/external-data/callback",
        .state = "",
        .verifier = create_signing_secret("").reveal()};
    return rules::code_request(client, request, kNoCode);
}

// An answer of the endpoint's own kind: an error code of the provider's.
bool is_of_a_token_endpoint(const rules::TokenFailure& failure) {
    const bool is_ours = failure.code.starts_with("http_") || failure.code == "no_json" ||
                         failure.code == "redirect" || failure.code == "invalid_answer";
    return !is_ours;
}

void judge(const rules::Provider& provider, const rules::TokenFailure& failure,
           ProviderCheck& check) {
    check.code = failure.code;
    switch (failure.kind) {
        case Kind::Refused:
        case Kind::Revoked:
            check.verdict = ProviderVerdict::Accepted;
            check.text = "answers, and accepts client_id and client_secret";
            return;
        case Kind::Misconfigured:
            check.verdict = ProviderVerdict::Failed;
            check.text = "answers, and does not accept client_id, client_secret or the callback";
            return;
        case Kind::Unavailable:
            break;
    }
    const bool is_undecided = is_of_a_token_endpoint(failure);
    check.verdict = is_undecided ? ProviderVerdict::Undecided : ProviderVerdict::Failed;
    check.text = is_undecided ? "answers, but says nothing about client_id and client_secret"
                              : rules::failure_text(provider, failure);
}

}  // namespace

std::string_view text_of(ProviderVerdict verdict) {
    constexpr std::array<std::string_view, 4> kTexts = {"accepted", "undecided", "unchecked",
                                                        "failed"};
    return kTexts[static_cast<std::size_t>(verdict)];
}

ProviderCheck check_provider(const Settings& settings, const rules::Provider& provider) {
    const rules::OAuthClient client = rules::oauth_client(provider, settings.providers, "");
    ProviderCheck check;
    const auto& own = settings.providers.find(provider.id)->second;
    const std::string_view configured = own.token_url.empty() ? provider.token_url : own.token_url;
    if (provider.host.source == rules::HostSource::Settings &&
        configured.find("{host}") != std::string_view::npos) {
        check.verdict = ProviderVerdict::Unchecked;
        check.text = "is ready; each connection names a host of its own";
        return check;
    }
    const rules::OAuthRequest request = impossible_request(settings, client);
    check.url = request.url;
    const net::OAuthReply reply = net::call_oauth({.url = request.url,
                                                   .headers = request.headers,
                                                   .body = request.body,
                                                   .ca_file = request.ca_file});
    if (!reply.has_answer()) {
        check.code = reply.failure;
        check.text = rules::failure_text(provider, {Kind::Unavailable, reply.failure});
        return check;
    }
    check.status = reply.status;
    const auto answer = rules::read_token_answer(provider, reply.status, reply.body.reveal());
    if (const auto* failure = std::get_if<rules::TokenFailure>(&answer)) {
        judge(provider, *failure, check);
    } else {
        check.code = "token";
        check.text = "gives tokens for a code that it never gave";
    }
    return check;
}

}  // namespace muster::service
