// The only door to OpenSSL: digests, random bytes, comparison in constant time, and the shape of
// our credentials (prefix + 43 base62 characters of 256 random bits + 6 of a CRC-32, docs/api.md
// "Keys").
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster {

void random_bytes(void* to, std::size_t count);
// 32 bytes each.
[[nodiscard]] std::string sha256(std::string_view data);
// 20 bytes; for the form in which MariaDB keeps a password, and nothing new.
[[nodiscard]] std::string sha1(std::string_view data);
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view data);
// 20 bytes; for RFC 6238, whose authenticators know no other.
[[nodiscard]] std::string hmac_sha1(std::string_view key, std::string_view data);
// Decimal digits, each as likely as any other.
[[nodiscard]] Secret random_digits(std::size_t count);
// A key for one purpose, 32 bytes (RFC 5869).
[[nodiscard]] Secret hkdf_sha256(const Secret& key, std::string_view purpose);

// AES-256-GCM. Seals `plain` under a key of 32 bytes with a fresh nonce; `context` is bound to it
// and must be the same to open it.
[[nodiscard]] std::string seal_under(const Secret& key, std::string_view plain,
                                     std::string_view context);
// nullopt for anything that seal_under() did not give for this key and context.
[[nodiscard]] std::optional<Secret> open_under(const Secret& key, std::string_view sealed,
                                               std::string_view context);

// RFC 4648 section 4, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);
// nullopt for anything but canonical base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

// False for different lengths; else takes the same time whatever differs.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);

// `prefix` and 256 random bits as 43 base62 characters, without a checksum: what a peer signs with,
// e.g. "mks_".
[[nodiscard]] Secret create_signing_secret(std::string_view prefix);
// A new credential of that prefix, e.g. "org_".
[[nodiscard]] Secret create_credential(std::string_view prefix);
// True if the text has the prefix, the length and the checksum of a credential: says nothing about
// whether it was ever issued.
[[nodiscard]] bool is_credential(std::string_view prefix, std::string_view text);

}  // namespace muster
