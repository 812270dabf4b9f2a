// Unicode normalization and case folding.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// The text in normalization form C with simple case folding, so that two spellings that look alike
// are equal: "ZOE\u0308" and "Zo\u00eb" become "zo\u00eb". It does not depend on a language: the
// Turkish dotted and dotless I are kept. `text` must be valid UTF-8.
[[nodiscard]] std::string folded(std::string_view text);

}  // namespace muster
