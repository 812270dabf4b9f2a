#include "rules/access/session.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

constexpr std::size_t kUserAgentBytes = 200;

std::string shown_user_agent(std::string_view header) {
    std::string shown = printable(header.substr(0, kUserAgentBytes));
    if (shown.size() > kUserAgentBytes) shown.resize(kUserAgentBytes);
    while (!is_utf8(shown)) shown.pop_back();
    return shown;
}

bool is_country(std::string_view code) {
    constexpr std::size_t kLetters = 2;
    return code.size() == kLetters && std::all_of(code.begin(), code.end(), [](char letter) {
               return letter >= 'A' && letter <= 'Z';
           });
}

}  // namespace

SessionClient session_client(std::string_view user_agent,
                             const std::optional<std::string>& country) {
    SessionClient client;
    if (!user_agent.empty()) client.user_agent = shown_user_agent(user_agent);
    if (country && is_country(*country)) client.country = country;
    return client;
}

}  // namespace muster::rules
