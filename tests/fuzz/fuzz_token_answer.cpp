// rules/connections/oauth.hpp: any reply of a provider is read; granted tokens can be sealed and
// sent, and the reported failure is a text of Muster. The first byte selects the provider, the
// second the status.
#include "rules/connections/oauth.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

#include <algorithm>

using namespace muster;
using fuzz::must;

namespace {

constexpr std::array kStatuses = {200, 201, 302, 400, 401, 403, 404, 429, 500, 503};

bool is_token(const Secret& token) {
    const std::string& text = token.reveal();
    return !text.empty() && text.size() <= 4096 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void check_details(const std::map<std::string, std::string>& details) {
    for (const auto& [name, text] : details) {
        must(!text.empty() && text.size() <= 255 && is_utf8(text));
        must(std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }));
    }
}

void check_failure(const rules::Provider& provider, const rules::TokenFailure& failure) {
    must(!failure.code.empty() && failure.code.size() <= 64);
    must(std::all_of(failure.code.begin(), failure.code.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    }));
    must(rules::failure_text(provider, failure).size() <= 255);
}

void check_tokens(const rules::Provider& provider, const rules::Tokens& tokens) {
    must(is_token(tokens.access_token));
    must(!tokens.refresh_token || is_token(*tokens.refresh_token));
    must(!tokens.life || tokens.life->count() >= 1000);
    check_details(tokens.details);
    const Timestamp now(1'700'000'000'000);
    const bool can_refresh = provider.refresh == rules::Refresh::WithToken;
    const auto due = rules::refresh_due(can_refresh, tokens.life, now);
    must(!due || (*due > now && *due <= now + Milliseconds(10L * 365 * 86'400'000)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto all = rules::providers();
    const rules::Provider& provider = all[data[0] % all.size()];
    const int status = kStatuses[data[1] % kStatuses.size()];
    const std::string_view body = fuzz::text_of(data, size).substr(2);
    const auto answer = rules::read_token_answer(provider, status, body);
    if (const auto* failure = std::get_if<rules::TokenFailure>(&answer)) {
        check_failure(provider, *failure);
    } else {
        must(status < 300);
        check_tokens(provider, std::get<rules::Tokens>(answer));
    }
    const auto found = rules::read_lookup_answer(provider, status, body);
    if (found) {
        must(status < 300);
        check_details(*found);
    }
    return 0;
}
