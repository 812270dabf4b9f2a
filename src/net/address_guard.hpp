// Which addresses a webhook may be sent to (docs/modules.md "Webhook addresses"): pure, one table.
// An IPv4 address that is written as an IPv6 one (::ffff:a.b.c.d) is that IPv4 address.
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
    // 16 bytes in the order of the network, IPv4 as ::ffff:a.b.c.d.
    using Bytes = std::array<std::uint8_t, 16>;

    constexpr explicit IpAddress(const Bytes& bytes) : bytes_(bytes) {}
    // Four decimal numbers, or IPv6 without brackets; nothing shorter, octal or hexadecimal.
    static std::optional<IpAddress> parse(const std::string& text);
    // nullopt for any other family, and where `length` is too short for the family.
    static std::optional<IpAddress> of(const sockaddr* address, socklen_t length);

    constexpr const Bytes& bytes() const { return bytes_; }
    bool is_v4() const;
    // As parse() reads it; an IPv4 address with dots.
    std::string text() const;
    constexpr auto operator<=>(const IpAddress&) const = default;

  private:
    Bytes bytes_{};
};

enum class Reach : std::uint8_t {
    Public,    // a host of the public Internet
    Loopback,  // 127.0.0.0/8 and ::1
    Special,   // anything else: private, reserved, a tunnel to some IPv4 address, …
};

[[nodiscard]] Reach reach_of(const IpAddress& address);

}  // namespace muster::net
