#include "base/loopback.hpp"

#include "base/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace muster {
namespace {

bool is_v6_loopback(std::string_view host) {
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&address);
}

bool is_v4_loopback(std::string_view host) {
    in_addr address{};
    return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
           ntohl(address.s_addr) >> 24 == 127;
}

}  // namespace

bool is_port_suffix(std::string_view text) {
    if (text.empty()) return true;
    return text.front() == ':' && parse_number<std::uint16_t>(text.substr(1)).has_value();
}

std::string_view authority_of(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return "";
    const std::string_view rest = url.substr(scheme + 3);
    return rest.substr(0, rest.find_first_of("/?#"));
}

bool is_loopback(std::string_view authority) {
    if (authority.find('\0') != std::string_view::npos)
        return false;  // inet_pton() would stop at the NUL
    if (authority.starts_with('[')) {
        const auto end = authority.find(']');
        return end != std::string_view::npos && is_port_suffix(authority.substr(end + 1)) &&
               is_v6_loopback(authority.substr(1, end - 1));
    }
    if (std::count(authority.begin(), authority.end(), ':') > 1) return is_v6_loopback(authority);
    const auto host = authority.substr(0, authority.find(':'));
    return is_port_suffix(authority.substr(host.size())) &&
           (equal_ignoring_case(host, "localhost") || is_v4_loopback(host));
}

}  // namespace muster
