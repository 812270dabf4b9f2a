// Text from elsewhere, made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// `text` without anything that a terminal obeys: control characters, marks that change the
// direction of text, and bytes that are not UTF-8 become \xNN, byte by byte.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace muster
