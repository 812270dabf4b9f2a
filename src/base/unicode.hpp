// Unicode normalization, case folding, and the width of text on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// The text in normalization form C with simple case folding, so that two spellings that look alike
// are equal: "ZOE\u0308" and "Zo\u00eb" become "zo\u00eb". It does not depend on a language: the
// Turkish dotted and dotless I are kept. `text` must be valid UTF-8. The time grows with the square
// of a run of combining marks, so the caller rejects a foreign text without is_stream_safe().
[[nodiscard]] std::string folded(std::string_view text);

// Replaces letters and their combining marks by composed letters, so that a search finds both
// spellings: "Be\u0301rg" becomes "B\u00e9rg". That is normalization form C, except that ideographs
// for compatibility are kept, because the form replaces them by others of a different shape. A text
// of more than kMostComposedBytes, without is_stream_safe() or that is not UTF-8 is kept too.
void compose(std::string& text);
// The text as compose() leaves it: a view of `text` if it stays as it is, or else of `to`.
[[nodiscard]] std::string_view composed(std::string_view text, std::string& to);
// 255 syllables of Korean, each in three parts of three bytes, take less.
inline constexpr std::size_t kMostComposedBytes = 2304;

// Whether no more than 30 combining marks follow each other when the text is decomposed, which no
// language needs (UAX #15, "Stream-Safe Text Format"). `text` must be valid UTF-8.
[[nodiscard]] bool is_stream_safe(std::string_view text);

// Whether the last character is a letter, a combining mark or a digit. `text` must be valid UTF-8.
[[nodiscard]] bool ends_in_word(std::string_view text);

// The columns that the text takes on a terminal: two for a wide East Asian character or an emoji,
// none for a combining mark. Throws std::runtime_error unless `text` is valid UTF-8.
[[nodiscard]] std::size_t column_width(std::string_view text);

}  // namespace muster
