// The checks of values in muster.conf (table.cpp). Each returns true for a valid value.
#pragma once

#include <string_view>

namespace muster {

// One word of printable ASCII, safe in a mail header, an SMTP command or a request.
[[nodiscard]] bool is_plain_word(std::string_view text);
// smtp://HOST[:PORT] or smtps://HOST[:PORT], without a name and a password.
[[nodiscard]] bool is_mail_url(std::string_view url);
[[nodiscard]] bool is_sender(std::string_view address);
// https://HOST[:PORT] without a path, or http:// on the loopback only.
[[nodiscard]] bool is_public_url(std::string_view text);
// The same as browsers send it: in lower case.
[[nodiscard]] bool is_origin(std::string_view text);
// unix:PATH or tcp://HOST[:PORT], or several of them, separated by commas.
[[nodiscard]] bool is_database_url(std::string_view text);
// An absolute path of a file that fits into the address of a Unix socket.
[[nodiscard]] bool is_socket_path(std::string_view path);
// IP addresses with or without a port, separated by commas without spaces, as c-ares reads them.
[[nodiscard]] bool is_name_servers(std::string_view text);
// Whether this process can read the file, and it has a certificate in PEM format.
[[nodiscard]] bool is_certificate_file(std::string_view path);
[[nodiscard]] bool is_absolute_path(std::string_view path);
// 1 to 64 characters.
[[nodiscard]] bool is_database_name(std::string_view text);
// https://, or http:// on the loopback only, because secrets are sent there. {host} may be in the
// place of the host, or of whole labels of it: sso.{host}.
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
