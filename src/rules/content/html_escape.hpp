// Text as HTML.
#pragma once

#include <string>
#include <string_view>

namespace muster::rules {

// Appends the text as HTML for elements and for values in double quotes. A CR becomes a line feed;
// control characters other than tab and line feed are left out.
void append_escaped_html(std::string& to, std::string_view text);

[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace muster::rules
