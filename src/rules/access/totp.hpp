// The second factor: time-based codes (RFC 6238: SHA-1, 6 digits, 30 s, one step of tolerance
// either way) and backup codes (docs/api/sign-in.md "Admin sign-in"). Pure functions;
// service/access/two_factor.cpp keeps the state.
#pragma once

#include "base/ids.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// 160 random bits, as RFC 4226 recommends.
[[nodiscard]] Secret create_totp_secret();
// The URI otpauth://totp/… that an authenticator app reads from a QR code.
[[nodiscard]] std::string totp_uri(const Secret& secret, std::string_view account);

inline constexpr std::int64_t kTotpStepsEitherWay = 1;
inline constexpr std::int64_t kTotpValidCodes = 2 * kTotpStepsEitherWay + 1;  // at a time
inline constexpr std::int64_t kTotpCodes = 1'000'000;

// The number of the 30-second step that contains `when`.
[[nodiscard]] std::int64_t totp_step(Timestamp when);
// The 6-digit code of a step.
[[nodiscard]] Secret totp_code(const Secret& secret, std::int64_t step);
// Whether the text has the form of such a code. A backup code never has it.
[[nodiscard]] bool is_totp_code(std::string_view code);
// The step of this code, if it is after `last_step` and at most one step from now. nullopt for a
// wrong code or a used one. The time does not depend on the code.
[[nodiscard]] std::optional<std::int64_t> matching_totp_step(const Secret& secret,
                                                             std::string_view code, Timestamp now,
                                                             std::int64_t last_step);

inline constexpr std::size_t kBackupCodes = 10;
// Ten codes of 120 random bits: "abcd-efgh-ijkl-mnop-qrst-uvwx".
[[nodiscard]] std::vector<Secret> create_backup_codes();
// The stored hash of a code as typed: ignores case, spaces and dashes. With 120 random bits, a fast
// hash is enough. The length is not checked: older codes have 80 bits.
[[nodiscard]] std::string backup_code_hash(AdminId admin, std::string_view typed);

}  // namespace muster::rules
