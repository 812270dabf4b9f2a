// Web origins (RFC 6454): what a publishable key's list may hold, and whether it lets a request in
// (docs/engagement.md "Origins"). Canonical: lower case, without the scheme's own port.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::rules {

// The longest entry of a list that can be one: scheme, asterisk, host, port.
inline constexpr std::size_t kLongestAllowedOrigin = 8 + 2 + 253 + 6;

// "https://shop.example[:port]": http or https, a host of ASCII labels, an IPv4 address or a
// bracketed IPv6 one; nothing behind it, no user, no "null".
[[nodiscard]] std::optional<std::string> canonical_origin(std::string_view text);

// The origin of a Referer: what stands before the first '/', '?' or '#' behind the host.
[[nodiscard]] std::optional<std::string> origin_of_url(std::string_view url);

// An entry of a list: an origin, or "https://*.example.com[:port]" for one level of subdomains. The
// domain behind the asterisk has a dot.
[[nodiscard]] std::optional<std::string> canonical_allowed_origin(std::string_view text);

// `allowed`: canonical entries; `origin`: canonical.
[[nodiscard]] bool is_allowed_origin(std::span<const std::string> allowed, std::string_view origin);

}  // namespace muster::rules
