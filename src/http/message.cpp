#include "http/message.hpp"

#include "base/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace muster::http {
namespace {

constexpr std::array<std::string_view, 8> kMethods = {"GET",    "POST", "PATCH",   "PUT",
                                                      "DELETE", "HEAD", "OPTIONS", "OTHER"};

// Whether the parameter is the header: HTTP_CONTENT_TYPE is "Content-Type".
bool is_header(std::string_view parameter, std::string_view header) {
    constexpr std::string_view kPrefix = "HTTP_";
    if (!parameter.starts_with(kPrefix)) return false;
    parameter.remove_prefix(kPrefix.size());
    constexpr unsigned kCase = 0x20;  // the bit in which a capital differs from its small letter
    const auto is_same = [](char of_name, char sent) {
        return of_name == '-' ? sent == '_'
                              : (static_cast<unsigned char>(of_name) | kCase) ==
                                    (static_cast<unsigned char>(sent) | kCase);
    };
    return std::equal(header.begin(), header.end(), parameter.begin(), parameter.end(), is_same);
}

}  // namespace

std::string_view text_of(Method method) {
    return kMethods[static_cast<std::size_t>(method)];
}

Method method_of(std::string_view text) {
    for (std::size_t i = 0; i + 1 < kMethods.size(); ++i) {
        if (kMethods[i] == text) return static_cast<Method>(i);
    }
    return Method::Other;
}

std::vector<std::string_view> repeated_headers(std::span<const std::string_view> parameters) {
    std::array<int, kSingleHeaders.size()> counts{};
    for (const std::string_view name : parameters) {
        for (std::size_t i = 0; i < kSingleHeaders.size(); ++i) {
            counts[i] += is_header(name, kSingleHeaders[i]) ? 1 : 0;
        }
    }
    std::vector<std::string_view> repeated;
    for (std::size_t i = 0; i < kSingleHeaders.size(); ++i) {
        if (counts[i] > 1) repeated.push_back(kSingleHeaders[i]);
    }
    return repeated;
}

bool is_repeated(const Request& request, std::string_view header) {
    const auto& repeated = request.repeated_headers;
    return std::find(repeated.begin(), repeated.end(), header) != repeated.end();
}

std::string cookie_value(std::string_view cookies, std::string_view name) {
    for (const std::string_view pair : split(cookies, ';')) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || trimmed_ascii(pair.substr(0, equals)) != name)
            continue;
        return std::string(trimmed_ascii(pair.substr(equals + 1)));
    }
    return "";
}

bool names_prefetch(std::string_view purpose) {
    std::string first(trimmed_ascii(purpose.substr(0, purpose.find_first_of(";,"))));
    ascii_lower(first);
    return first == "prefetch";
}

std::string network_of(const std::string& address) {
    using namespace std::string_view_literals;
    constexpr std::size_t kNetworkBytes = 8;
    // The prefix of an IPv4 address that arrived on an IPv6 socket (RFC 4291, 2.5.5.2).
    constexpr std::string_view kMapped = "\0\0\0\0\0\0\0\0\0\0\xff\xff"sv;
    std::array<char, 16> bytes{};
    if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
    const std::string_view whole(bytes.data(), bytes.size());
    return std::string(whole.starts_with(kMapped) ? whole : whole.substr(0, kNetworkBytes));
}

std::string_view bearer_token(const Request& request) {
    constexpr std::string_view kScheme = "Bearer ";  // RFC 6750; case-insensitive
    const std::string_view header = request.authorization;
    if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return "";
    return trimmed_ascii(header.substr(kScheme.size()));
}

}  // namespace muster::http
