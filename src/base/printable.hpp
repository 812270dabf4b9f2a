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

}  // namespace muster
