// Sanitizes untrusted HTML for display on third-party pages (docs/content.md "Content") with a
// strict allowlist of elements, attributes and schemes. Only this file uses libgumbo.
#pragma once

#include "rules/content/dropped_html.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// Parses the HTML and writes only what the allowlist contains. Other elements lose their tags but
// keep their text, except code. The result is stable: sanitizing it again does not change it. HTML
// that exceeds the parser's limits (for example thousands of nested elements) is returned as
// escaped source text. The result may be longer than the input, by escapes and end tags, but only
// by a small factor.
[[nodiscard]] std::string sanitized_html(std::string_view html);

struct SanitizedHtml {
    std::string html;
    std::vector<DroppedHtml> dropped;  // at most DroppedParts::kMostEntries
    std::size_t dropped_count = 0;     // also those without an entry
};
// The same result, with what it lacks. Sanitizing the result again drops nothing. Tags that every
// HTML parser ignores are not listed, such as a table cell outside a table.
[[nodiscard]] SanitizedHtml sanitized_with_report(std::string_view html);

}  // namespace muster::rules
