// The values that attributes of sanitized HTML may have (docs/content.md "HTML"). Each function
// returns the value to write, or nullopt to drop the attribute.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules::html_value {

using Sanitizer = std::optional<std::string> (*)(std::string_view value);

std::optional<std::string> any_text(std::string_view value);
std::optional<std::string> empty_text(std::string_view value);
// A whole number up to 65,534.
std::optional<std::string> number(std::string_view value);
std::optional<std::string> direction(std::string_view value);
std::optional<std::string> scope(std::string_view value);
std::optional<std::string> language(std::string_view value);
// Absolute URLs only: a relative URL would depend on the page that shows the article.
std::optional<std::string> link(std::string_view value);     // https, http, mailto
std::optional<std::string> page(std::string_view value);     // https, http
std::optional<std::string> picture(std::string_view value);  // https

}  // namespace muster::rules::html_value
