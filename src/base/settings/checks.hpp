// The checks of values in muster.conf (table.cpp). Each returns true for a valid value.
#pragma once

#include <string_view>

namespace muster {

// One word of printable ASCII, safe in a mail header, an SMTP command or a request.
[[nodiscard]] bool is_plain_word(std::string_view text);
// SCHEME://HOST[:PORT], without a name and a password.
[[nodiscard]] bool is_mail_url(std::string_view url);
[[nodiscard]] bool is_sender(std::string_view address);
// As browsers send it: lower case, without a path.
[[nodiscard]] bool is_origin(std::string_view text);
// https://, or http:// on the loopback only, because secrets are sent there.
[[nodiscard]] bool is_secret_url(std::string_view text);
// HOST or HOST:PORT.
[[nodiscard]] bool is_host(std::string_view text);
// OAuth scopes, separated by spaces (RFC 6749 section 3.3).
[[nodiscard]] bool is_scopes(std::string_view text);
// File permissions such as 0660.
[[nodiscard]] bool is_octal_mode(std::string_view text);
// At least 32 bytes.
[[nodiscard]] bool is_installation_key(std::string_view bytes);

}  // namespace muster
