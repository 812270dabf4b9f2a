#include "net/address_guard.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace muster::net {
namespace {

struct Range {
    IpAddress::Bytes prefix{};
    int bits = 0;
    Reach reach = Reach::Special;
};

constexpr int kV4Bits = 96;  // the prefix ::ffff:0:0/96 holds the IPv4 addresses

constexpr Range v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, int bits,
                   Reach reach = Reach::Special) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, kV4Bits + bits, reach};
}

constexpr Range v6(std::initializer_list<std::uint16_t> groups, int bits) {
    Range range{{}, bits, Reach::Special};
    std::size_t at = 0;
    for (const std::uint16_t group : groups) {
        range.prefix[at++] = static_cast<std::uint8_t>(group >> 8U);
        range.prefix[at++] = static_cast<std::uint8_t>(group & 0xffU);
    }
    return range;
}

constexpr Range kV6Loopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, Reach::Loopback};

// The special-purpose registries of IANA (RFC 6890): IPv4, and the allocated part of IPv6.
constexpr Range kNotPublic[] = {
    kV6Loopback,
    v4(127, 0, 0, 0, 8, Reach::Loopback),
    v4(0, 0, 0, 0, 8),                 // this network; Linux treats 0.0.0.0 as the local host
    v4(10, 0, 0, 0, 8),                // private
    v4(100, 64, 0, 0, 10),             // carriers' NAT
    v4(169, 254, 0, 0, 16),            // link-local; metadata services of clouds
    v4(172, 16, 0, 0, 12),             // private
    v4(192, 0, 0, 0, 24),              // protocol assignments
    v4(192, 0, 2, 0, 24),              // documentation
    v4(192, 31, 196, 0, 24),           // AS112
    v4(192, 52, 193, 0, 24),           // AMT
    v4(192, 88, 99, 0, 24),            // 6to4 relays
    v4(192, 168, 0, 0, 16),            // private
    v4(192, 175, 48, 0, 24),           // AS112
    v4(198, 18, 0, 0, 15),             // benchmarks
    v4(198, 51, 100, 0, 24),           // documentation
    v4(203, 0, 113, 0, 24),            // documentation
    v4(224, 0, 0, 0, 4),               // multicast
    v4(240, 0, 0, 0, 4),               // reserved, and broadcast
    v6({0x2001}, 23),                  // Teredo, benchmarks, AMT, AS112, ORCHID
    v6({0x2001, 0x0db8}, 32),          // documentation
    v6({0x2002}, 16),                  // 6to4: any IPv4 address behind a relay
    v6({0x2620, 0x004f, 0x8000}, 48),  // AS112
    v6({0x3ffe}, 16),                  // the former 6bone
    v6({0x3fff}, 20),                  // documentation
};

// The only global part of IPv6. It excludes ::/96 (v4-compatible), 64:ff9b::/96 and 64:ff9b:1::/48
// (NAT64), 100::/64 (discard), 5f00::/16 (SRv6), fc00::/7 (unique local), fe80::/10 (link-local),
// fec0::/10 (site-local), ff00::/8 (multicast) and all unallocated ranges.
constexpr Range kGlobalV6 = v6({0x2000}, 3);

bool contains(const Range& range, const IpAddress& address) {
    const auto whole = static_cast<std::size_t>(range.bits) / 8;
    const auto& bytes = address.bytes();
    if (!std::equal(bytes.begin(), bytes.begin() + whole, range.prefix.begin())) return false;
    const auto rest = static_cast<unsigned>(range.bits) % 8U;
    if (rest == 0) return true;
    const unsigned mask = 0xff00U >> rest & 0xffU;
    return (bytes[whole] & mask) == (range.prefix[whole] & mask);
}

IpAddress of_v4(const in_addr& address) {
    IpAddress::Bytes bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::memcpy(bytes.data() + kV4Bits / 8, &address, sizeof address);
    return IpAddress(bytes);
}

IpAddress of_v6(const in6_addr& address) {
    IpAddress::Bytes bytes{};
    std::memcpy(bytes.data(), &address, sizeof address);
    return IpAddress(bytes);
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(const std::string& text) {
    if (text.find('\0') != std::string::npos) return std::nullopt;
    in_addr v4{};
    if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return of_v4(v4);
    in6_addr v6{};
    if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return of_v6(v6);
    return std::nullopt;
}

std::optional<IpAddress> IpAddress::of(const sockaddr* address, socklen_t length) {
    if (length >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, address, sizeof v4);
        return of_v4(v4.sin_addr);
    }
    if (length >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, address, sizeof v6);
        return of_v6(v6.sin6_addr);
    }
    return std::nullopt;
}

bool IpAddress::is_v4() const {
    return contains(v4(0, 0, 0, 0, 0), *this);
}

std::string IpAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const bool has_dots = is_v4();
    inet_ntop(has_dots ? AF_INET : AF_INET6, bytes_.data() + (has_dots ? kV4Bits / 8 : 0),
              buffer.data(), buffer.size());
    return buffer.data();
}

Reach reach_of(const IpAddress& address) {
    for (const Range& range : kNotPublic) {
        if (contains(range, address)) return range.reach;
    }
    return address.is_v4() || contains(kGlobalV6, address) ? Reach::Public : Reach::Special;
}

}  // namespace muster::net
