// Text from elsewhere, made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// `text` without anything that a terminal obeys: control characters, marks that change the
// direction of text, and bytes that are not UTF-8 become \xNN, byte by byte.
[[nodiscard]] std::string printable(std::string_view text);

// `text` for JSON: as it is, or printable if it is not UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view text);

// The text in double quotes and printable, for an error message. Of a text above 200 bytes, only
// the beginning and the number of bytes: `"aaa..." (5000 bytes)`.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace muster
