// What a value of the configuration may look like (base/settings.cpp): pure, each true for a good
// one.
#pragma once

#include <string_view>

namespace muster {

// For what goes into a mail's head, an SMTP command or a request: one word of printable ASCII.
[[nodiscard]] bool is_plain_word(std::string_view text);
// SCHEME://HOST[:PORT]; a name and a password have settings of their own.
[[nodiscard]] bool is_mail_url(std::string_view url);
[[nodiscard]] bool is_sender(std::string_view address);
// As browsers write one: lower case, no path.
[[nodiscard]] bool is_origin(std::string_view text);
// https:// to anywhere, http:// to this machine alone: what goes there are secrets.
[[nodiscard]] bool is_secret_url(std::string_view text);
// HOST or HOST:PORT.
[[nodiscard]] bool is_host(std::string_view text);
// OAuth scopes, separated by spaces (RFC 6749 section 3.3).
[[nodiscard]] bool is_scopes(std::string_view text);

}  // namespace muster
