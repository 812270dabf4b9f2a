// All uses of OpenSSL: digests, random bytes, comparison in constant time, encryption, and the
// format of credentials (prefix, 43 base62 characters of 256 random bits, 6 characters of a CRC-32;
// docs/api/keys.md "Keys").
//
// Functions here throw std::runtime_error if OpenSSL fails.
#pragma once

#include "base/secret.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// From OpenSSL itself: for keys, credentials and nonces. base/random.hpp is faster for few bytes.
void random_bytes(void* to, std::size_t count);
// Both return 32 bytes.
[[nodiscard]] std::string sha256(std::string_view data);
// 20 bytes. Only for MariaDB's password format; do not use it for anything new.
[[nodiscard]] std::string sha1(std::string_view data);
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view data);
// 20 bytes. For TOTP (RFC 6238): authenticator apps support only SHA-1.
[[nodiscard]] std::string hmac_sha1(std::string_view key, std::string_view data);
inline constexpr std::size_t kSipHashKeyBytes = 16;
// SipHash-2-4 with a key of 16 bytes, for hash tables: a stranger who does not know the key cannot
// choose texts that collide. It is not a signature.
[[nodiscard]] std::uint64_t siphash(std::string_view key, std::string_view data);
// `count` decimal digits, uniformly distributed.
[[nodiscard]] Secret random_digits(std::size_t count);
// Derives a key of 32 bytes for one purpose (RFC 5869).
[[nodiscard]] Secret hkdf_sha256(const Secret& key, std::string_view purpose);

// AES-256-GCM. Encrypts `plain` under a key of 32 bytes with a fresh nonce. `context` is
// authenticated; open_under() must get the same one.
[[nodiscard]] std::string seal_under(const Secret& key, std::string_view plain,
                                     std::string_view context);
// nullopt for any input that seal_under() did not return for this key and context.
[[nodiscard]] std::optional<Secret> open_under(const Secret& key, std::string_view sealed,
                                               std::string_view context);

// AES-256-SIV (RFC 5297), for texts whose sealed form must not change: the same key of 64 bytes,
// plain text and context give the same bytes, so they show whether two texts are equal. `context`
// is authenticated. Neither may be empty: OpenSSL skips empty texts.
inline constexpr std::size_t kSivKeyBytes = 64;
[[nodiscard]] std::string seal_repeatably(const Secret& key, std::string_view plain,
                                          std::string_view context);
// nullopt for any input that seal_repeatably() did not return for this key and context.
[[nodiscard]] std::optional<std::string> open_repeatable(const Secret& key, std::string_view sealed,
                                                         std::string_view context);

// RFC 4648 section 4, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);
// nullopt unless the text is canonical base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

// Returns false at once if the lengths differ. Otherwise the time does not depend on the content.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);

// 256 random bits as 43 base62 characters.
[[nodiscard]] Secret create_random_text();
// The same behind a prefix, for example "mks_". A peer signs with it.
[[nodiscard]] Secret create_signing_secret(std::string_view prefix);
// A new credential with this prefix, for example "org_".
[[nodiscard]] Secret create_credential(std::string_view prefix);
// True if the text has the prefix, the length and the checksum of a credential. Does not check that
// the credential was issued.
[[nodiscard]] bool is_credential(std::string_view prefix, std::string_view text);

}  // namespace muster
