// The host of a URL, and the only check for "is this host the loopback?".
#pragma once

#include <string_view>

namespace muster {

// HOST, HOST:PORT or USER@HOST:PORT of SCHEME://HOST:PORT/…; "" without a scheme. Checks nothing.
[[nodiscard]] std::string_view authority_of(std::string_view url);

// Whether the text is ":PORT" or "".
[[nodiscard]] bool is_port_suffix(std::string_view text);

// `authority` is HOST or HOST:PORT of a URL. True for "localhost" in any case, for a dotted-quad
// address in 127.0.0.0/8, and for the IPv6 address ::1 with or without brackets.
//
// False for all other names: a resolver may send "a.localhost" to a name server, and
// 127.example.com can resolve to any address. Also false for short forms such as 127.1, which
// programs interpret differently.
[[nodiscard]] bool is_loopback(std::string_view authority);

}  // namespace muster
