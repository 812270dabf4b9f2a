// Validation and normalization of email addresses.
#pragma once

#include "base/faults.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster {

inline constexpr std::size_t kLongestEmail = 254;  // RFC 5321 with its errata
// Folding shortens a text to a third at most ("\u03b9\u0308\u0301" becomes "\u0390", U+212A becomes
// "k"), so a longer text is not the spelling of an address.
inline constexpr std::size_t kMostFoldedBytes = 5 * kLongestEmail;

// `email` is already trimmed and lower-case (ASCII). True if it has one `@`, 3 to 254 bytes, a
// valid local part and a valid domain. The local part has 1 to 64 bytes. It is a quoted string, or
// a dot-string of RFC 5322 atext and non-ASCII letters: no control character, space or invisible
// character; not more than 30 combining marks in a row; no dot first, last or doubled. The domain
// has at least two LDH labels of 1 to 63 characters.
[[nodiscard]] bool is_email(std::string_view email);

// Folds the case of an address, or of a text that contains one, as addresses are stored. A text
// that is not UTF-8, has more than kMostFoldedBytes or more than 30 combining marks in a row keeps
// its non-ASCII letters.
void fold_email(std::string& text);

// Whether a folded text contains the address `email`, which is valid, and not only as a part of a
// longer address or word: a dot joins j.ann@x.test, but only ends a sentence about ann@x.test. An
// apostrophe joins o'ann@x.test, but only quotes 'ann@x.test'.
[[nodiscard]] bool mentions_email(std::string_view text, std::string_view email);

// Trims `text` and folds its case (base/unicode.hpp) in place. Trimming removes white space and
// invisible characters at both ends, such as the no-break space of a web page's address and the
// byte order mark of a file's first cell. Returns nullopt for a valid address. Otherwise Required
// (empty), InvalidValue (a control character), TooLong or InvalidEmail (also for invalid UTF-8).
[[nodiscard]] std::optional<FieldCode> normalize_email(std::string& text);

}  // namespace muster
