#include "rules/origins.hpp"

#include "base/text.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace muster::rules {
namespace {

constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kLongestLabel = 63;

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view label) {
    if (label.empty() || label.size() > kLongestLabel) return false;
    if (label.front() == '-' || label.back() == '-') return false;
    return std::all_of(label.begin(), label.end(),
                       [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

bool is_name(std::string_view host) {
    if (host.empty() || host.size() > kLongestHost) return false;
    const auto labels = split(host, '.');
    return std::all_of(labels.begin(), labels.end(), is_label);
}

bool is_bracketed_address(std::string_view host) {
    if (host.size() < 4 || host.front() != '[' || host.back() != ']') return false;
    const std::string inside(host.substr(1, host.size() - 2));
    in6_addr address{};
    return inside.find('\0') == std::string::npos &&
           inet_pton(AF_INET6, inside.c_str(), &address) == 1;
}

struct Origin {
    std::string_view scheme;
    std::string_view host;
    std::string_view port;  // "" for the scheme's default port

    std::string text() const {
        std::string text = std::string(scheme) + "://" + std::string(host);
        return port.empty() ? text : text + ":" + std::string(port);
    }
};

// Clears a default port. Returns false for an invalid port.
bool normalize_port(std::string_view scheme, std::string_view& port) {
    const auto number = parse_number<int>(port);
    constexpr int kHighest = 65'535;
    if (!number || *number < 1 || *number > kHighest || port.front() == '0') return false;
    if (port == (scheme == "https" ? "443" : "80")) port = "";
    return true;
}

// `text` must be in lower case. Does not check the host.
std::optional<Origin> parsed(std::string_view text) {
    Origin origin;
    for (const std::string_view scheme : {"http", "https"}) {
        if (text.starts_with(scheme) && text.substr(scheme.size()).starts_with("://")) {
            origin.scheme = text.substr(0, scheme.size());
        }
    }
    if (origin.scheme.empty()) return std::nullopt;
    const std::string_view rest = text.substr(origin.scheme.size() + 3);
    const auto bracket = rest.rfind(']');
    const auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
    origin.host = rest.substr(0, colon);
    if (colon == std::string_view::npos) return origin;
    origin.port = rest.substr(colon + 1);
    return normalize_port(origin.scheme, origin.port) ? std::optional(origin) : std::nullopt;
}

std::string lowered(std::string_view text) {
    std::string copy(text);
    ascii_lower(copy);
    return copy;
}

// A wildcard entry: "https://*.example.com".
constexpr std::string_view kWildcard = "https://*.";

}  // namespace

std::optional<std::string> canonical_origin(std::string_view text) {
    const std::string copy = lowered(text);
    const auto origin = parsed(copy);
    if (!origin) return std::nullopt;
    if (!is_name(origin->host) && !is_bracketed_address(origin->host)) return std::nullopt;
    return origin->text();
}

std::optional<std::string> origin_of_url(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    return canonical_origin(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

bool is_web_url(std::string_view url) {
    const bool is_plain = std::all_of(url.begin(), url.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '\\' && c != '"' && c != '<' && c != '>';
    });
    return is_plain && url.size() <= kLongestWebUrl && origin_of_url(url).has_value();
}

std::optional<std::string> canonical_allowed_origin(std::string_view text) {
    const std::string copy = lowered(text);
    if (!copy.starts_with(kWildcard)) return canonical_origin(copy);
    // Checked without the asterisk.
    const std::string_view domain = std::string_view(copy).substr(kWildcard.size());
    const auto origin = canonical_origin("https://" + std::string(domain));
    const std::string_view host = domain.substr(0, domain.find(':'));
    const bool is_domain = origin && host.find('.') != std::string::npos;
    if (!is_domain) return std::nullopt;
    return std::string(kWildcard) + origin->substr(std::string_view("https://").size());
}

bool is_allowed_origin(std::span<const std::string> allowed, std::string_view origin) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& entry) {
        if (!entry.starts_with(kWildcard)) return entry == origin;
        const std::string_view suffix = std::string_view(entry).substr(kWildcard.size() - 1);
        constexpr std::string_view kScheme = "https://";
        if (!origin.starts_with(kScheme) || !origin.ends_with(suffix)) return false;
        const std::string_view host = origin.substr(kScheme.size());
        // The asterisk matches exactly one label.
        return host.size() > suffix.size() &&
               host.substr(0, host.size() - suffix.size()).find('.') == std::string_view::npos;
    });
}

}  // namespace muster::rules
