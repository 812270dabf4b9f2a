// Email addresses: which are valid, and their normal form.
#pragma once

#include "base/faults.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// One `@`; local part 1..64 and whole 3..254 bytes; local part a dot-string of RFC 5322 atext or of
// non-ASCII letters (no control, space or invisible character, no dot first, last or doubled), or a
// quoted string; domain of at least two LDH labels of 1..63. `email` is trimmed and lower-case
// (ASCII) already.
[[nodiscard]] bool is_email(std::string_view email);

// Trims and lower-cases (ASCII) in place. Nothing: a valid address. Else Required (empty),
// InvalidValue (a control character), TooLong or InvalidEmail. `text` is valid UTF-8.
[[nodiscard]] std::optional<FieldCode> normalise_email(std::string& text);

}  // namespace muster
