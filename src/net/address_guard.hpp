// The addresses to which a webhook may be sent (docs/webhooks.md "Webhook addresses"), as pure
// functions over one table. An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is treated as the IPv4
// address.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace muster::net {

// An IPv4 or IPv6 address, without a zone.
class IpAddress {
  public:
    // 16 bytes in network order; IPv4 as ::ffff:a.b.c.d.
    using Bytes = std::array<std::uint8_t, 16>;

    constexpr explicit IpAddress(const Bytes& bytes) : bytes_(bytes) {}
    // Accepts a dotted quad in decimal, or IPv6 without brackets. Rejects shorter, octal and
    // hexadecimal forms.
    static std::optional<IpAddress> parse(const std::string& text);
    // nullopt for any other family, or if `length` is too short for the family.
    static std::optional<IpAddress> of(const sockaddr* address, socklen_t length);

    constexpr const Bytes& bytes() const { return bytes_; }
    bool is_v4() const;
    // In the form that parse() reads; IPv4 as a dotted quad.
    std::string text() const;
    constexpr auto operator<=>(const IpAddress&) const = default;

  private:
    Bytes bytes_{};
};

enum class Reach : std::uint8_t {
    Public,    // a host of the public Internet
    Loopback,  // 127.0.0.0/8 and ::1
    Special,   // all others: private, reserved, tunnels to IPv4 addresses, …
};

// The class of an address in the special-purpose registries.
[[nodiscard]] Reach reach_of(const IpAddress& address);

}  // namespace muster::net
