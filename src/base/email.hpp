// Validation and normalization of email addresses.
#pragma once

#include "base/faults.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// `email` is already trimmed and lower-case (ASCII). True if it has one `@`, 3 to 254 bytes, a
// valid local part and a valid domain. The local part has 1 to 64 bytes. It is a quoted string, or
// a dot-string of RFC 5322 atext and non-ASCII letters: no control character, space or invisible
// character; no dot first, last or doubled. The domain has at least two LDH labels of 1 to 63
// characters.
[[nodiscard]] bool is_email(std::string_view email);

// Trims and lower-cases (ASCII) `text` in place; `text` must be valid UTF-8. Returns nullopt for a
// valid address. Otherwise Required (empty), InvalidValue (a control character), TooLong or
// InvalidEmail.
[[nodiscard]] std::optional<FieldCode> normalize_email(std::string& text);

}  // namespace muster
