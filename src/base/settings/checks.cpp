#include "base/settings/checks.hpp"

#include "base/email.hpp"
#include "base/loopback.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace muster {
namespace {

// No server has port 0, and a leading zero is a mistake.
bool is_server_port(std::string_view text) {
    return is_port_suffix(text) && !text.starts_with(":0");
}

bool is_ip_address(int family, std::string_view text) {
    in6_addr address{};                                  // has room for an IPv4 address too
    return text.find('\0') == std::string_view::npos &&  // inet_pton() would stop at the NUL
           inet_pton(family, std::string(text).c_str(), &address) == 1;
}

bool is_label(std::string_view text) {
    constexpr std::size_t kLongest = 63;
    return !text.empty() && text.size() <= kLongest && text.front() != '-' && text.back() != '-' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

bool is_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A name, which may end with a dot, or an IPv4 address. The last part of a name is not a number:
// resolvers take most of such names as addresses, and browsers take none of them as a name.
bool is_host_name(std::string_view text) {
    constexpr std::size_t kLongest = 253;
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty() || text.size() > kLongest || !is_letter_or_digit(text.front())) return false;
    const auto labels = split(text, '.');
    return std::all_of(labels.begin(), labels.end(), is_label) &&
           (!is_digits(labels.back()) || is_ip_address(AF_INET, text));
}

// HOST or HOST:PORT, where HOST is a name, an IPv4 address, or an IPv6 address in brackets.
bool is_authority(std::string_view text) {
    if (!text.starts_with('[')) {
        const std::string_view host = text.substr(0, text.find(':'));
        return is_host_name(host) && is_server_port(text.substr(host.size()));
    }
    const std::size_t end = text.find(']');
    return end != std::string_view::npos && is_ip_address(AF_INET6, text.substr(1, end - 1)) &&
           is_server_port(text.substr(end + 1));
}

// [192.0.2.1] or [IPv6:2001:db8::1] (RFC 5321 section 4.1.3).
bool is_address_literal(std::string_view text) {
    constexpr std::string_view kIpv6 = "IPv6:";
    if (!text.starts_with('[') || !text.ends_with(']')) return false;
    const std::string_view address = text.substr(1, text.size() - 2);
    return is_ip_address(AF_INET, address) ||
           (equal_ignoring_case(address.substr(0, kIpv6.size()), kIpv6) &&
            is_ip_address(AF_INET6, address.substr(kIpv6.size())));
}

// An authority in which {host} may stand for whole labels. As a part of a label it would lead to
// another customer of the provider, with the secrets: x{host} to xacme.example.
bool is_authority_with_host_place(std::string_view text) {
    constexpr std::string_view kHostPlace = "{host}";
    constexpr std::string_view kSample = "host";
    const std::size_t at = text.find(kHostPlace);
    if (at == std::string_view::npos) return is_authority(text);
    const std::string_view before = text.substr(0, at);
    const std::string_view after = text.substr(at + kHostPlace.size());
    const bool is_whole = (before.empty() || before.ends_with('.')) &&
                          (after.empty() || after.starts_with('.') || after.starts_with(':'));
    return is_whole && is_authority(std::string(before).append(kSample).append(after));
}

// As c-ares reads it: an IPv6 address has brackets only before a port.
bool is_name_server(std::string_view text) {
    if (text.starts_with('[')) return is_authority(text) && !text.ends_with(']');
    const std::string_view host = text.substr(0, text.find(':'));
    return is_ip_address(AF_INET6, text) ||
           (is_ip_address(AF_INET, host) && is_server_port(text.substr(host.size())));
}

bool is_database_server(std::string_view text) {
    constexpr std::string_view kUnix = "unix:";
    constexpr std::string_view kTcp = "tcp://";
    if (text.starts_with(kUnix)) return is_socket_path(text.substr(kUnix.size()));
    return text.starts_with(kTcp) && is_authority(text.substr(kTcp.size()));
}

}  // namespace

bool is_plain_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '"';
    });
}

bool is_mail_url(std::string_view url) {
    constexpr std::string_view kPlain = "smtp://";
    constexpr std::string_view kTls = "smtps://";
    return (url.starts_with(kPlain) && is_authority(url.substr(kPlain.size()))) ||
           (url.starts_with(kTls) && is_authority(url.substr(kTls.size())));
}

// As in an email address. The domain may also be one word, such as localhost, or an address
// literal.
bool is_sender(std::string_view address) {
    const std::size_t at = address.find('@');
    if (!is_plain_word(address) || at == std::string_view::npos) return false;
    const std::string_view domain = address.substr(at + 1);
    std::string sample = std::string(address.substr(0, at)) + "@host.example";
    ascii_lower(sample);
    return is_email(sample) && (is_host_name(domain) || is_address_literal(domain));
}

bool is_public_url(std::string_view text) {
    const std::string_view host = authority_of(text);
    const std::string_view scheme = text.substr(0, text.size() - host.size());
    return is_authority(host) &&
           (scheme == "https://" || (scheme == "http://" && is_loopback(host)));
}

bool is_origin(std::string_view text) {
    return is_public_url(text) &&
           std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_database_url(std::string_view text) {
    const auto servers = split(text, ',');
    return std::all_of(servers.begin(), servers.end(), [](std::string_view server) {
        return is_database_server(trimmed_ascii(server));
    });
}

bool is_socket_path(std::string_view path) {
    return is_absolute_path(path) && !path.ends_with('/') &&
           path.size() < sizeof sockaddr_un{}.sun_path;
}

bool is_name_servers(std::string_view text) {
    const auto servers = split(text, ',');
    return std::all_of(servers.begin(), servers.end(), is_name_server);
}

bool is_certificate_file(std::string_view path) {
    constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
    return has_certificate(read_regular_file(std::string(path), kMostBytes).bytes);
}

bool is_absolute_path(std::string_view path) {
    return path.starts_with('/');
}

bool is_database_name(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    return !text.empty() && !is_longer_than(text, kLongest);
}

bool is_secret_url(std::string_view text) {
    const std::string_view authority = authority_of(text);
    if (!is_plain_word(text) || !is_authority_with_host_place(authority)) return false;
    if (text.find('#') != std::string_view::npos) return false;
    return text.starts_with("https://") || (text.starts_with("http://") && is_loopback(authority));
}

bool is_host(std::string_view text) {
    return is_authority(text);
}

bool is_scopes(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

bool is_octal_mode(std::string_view text) {
    return !text.empty() && text.size() <= 4 &&
           text.find_first_not_of("01234567") == std::string_view::npos;
}

bool is_installation_key(std::string_view bytes) {
    constexpr std::size_t kLeastBytes = 32;
    return bytes.size() >= kLeastBytes;
}

}  // namespace muster
