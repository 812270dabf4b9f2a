#include "base/settings/checks.hpp"

#include "base/loopback.hpp"
#include "base/text.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
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

bool is_host_name(std::string_view text) {
    return !text.empty() && is_letter_or_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
           });
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

bool is_sender(std::string_view address) {
    const auto at = address.find('@');
    return is_plain_word(address) && at != std::string_view::npos && at > 0 &&
           at + 1 < address.size() && address.find('@', at + 1) == std::string_view::npos;
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
    return std::all_of(servers.begin(), servers.end(),
                       [](std::string_view server) { return is_database_server(trimmed(server)); });
}

bool is_socket_path(std::string_view path) {
    return path.starts_with('/') && path.size() < sizeof sockaddr_un{}.sun_path;
}

bool is_name_servers(std::string_view text) {
    const auto servers = split(text, ',');
    return std::all_of(servers.begin(), servers.end(), is_name_server);
}

bool is_readable_file(std::string_view path) {
    std::ifstream in{std::string(path)};
    in.peek();  // a folder opens, but cannot be read
    return in.good();
}

bool is_secret_url(std::string_view text) {
    const std::string_view host = authority_of(text);
    if (!is_plain_word(text) || host.empty() || host.front() == ':' ||
        host.find('@') != std::string_view::npos || text.find('#') != std::string_view::npos) {
        return false;
    }
    return text.starts_with("https://") || (text.starts_with("http://") && is_loopback(host));
}

bool is_host(std::string_view text) {
    return is_plain_word(text) && text.front() != ':' &&
           text.find_first_of("/?#@*{}\\") == std::string_view::npos;
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
