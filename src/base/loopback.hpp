// The one answer to "is this host the loopback?".
#pragma once

#include <string_view>

namespace muster {

// Of a URL's HOST or HOST:PORT. True for "localhost" in any case, for the four numbers of an
// address in 127.0.0.0/8, and for the IPv6 address ::1, with or without its brackets. False for all
// names else: a resolver may ask a name server for "a.localhost", and 127.example.com is anywhere.
// False also for short or odd forms such as 127.1, which programs read differently.
[[nodiscard]] bool is_loopback(std::string_view authority);

}  // namespace muster
