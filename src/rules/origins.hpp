// Web origins (RFC 6454): validates the entries of a publishable key's list, and matches a
// request's origin against them (docs/engagement.md "Origins"). Canonical form: lower case, without
// the scheme's default port.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::rules {

// The length of the longest valid entry: scheme, asterisk, host, port.
inline constexpr std::size_t kLongestAllowedOrigin = 8 + 2 + 253 + 6;

// The canonical form of "https://shop.example[:port]": http or https; a host of ASCII labels, an
// IPv4 address or a bracketed IPv6 address. nullopt for anything else, including a path, a user or
// "null".
[[nodiscard]] std::optional<std::string> canonical_origin(std::string_view text);

// The origin of a Referer: the part before the first '/', '?' or '#' after the host.
[[nodiscard]] std::optional<std::string> origin_of_url(std::string_view url);

// The longest URL that a record may have.
inline constexpr std::size_t kLongestWebUrl = 2048;
// Whether it is an absolute http or https URL with a host and no user, in visible ASCII without ",
// <, > and \. So a header or an attribute in double quotes can have it as it is stored.
[[nodiscard]] bool is_web_url(std::string_view url);

// An entry of a list: an origin, or "https://*.example.com[:port]" for one level of subdomains. The
// domain after the asterisk must contain a dot.
[[nodiscard]] std::optional<std::string> canonical_allowed_origin(std::string_view text);

// `allowed` and `origin` must be canonical.
[[nodiscard]] bool is_allowed_origin(std::span<const std::string> allowed, std::string_view origin);

}  // namespace muster::rules
