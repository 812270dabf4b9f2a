// The page that shows an article to the admin who writes it.
#pragma once

#include "rules/content/articles.hpp"

#include <string>
#include <string_view>

namespace muster::rules {

// Runs no script, loads no style, and cannot be framed by other sites. Pictures may be anywhere, as
// in the article itself.
inline constexpr std::string_view kPreviewPolicy =
    "sandbox; default-src 'none'; img-src https: data:; frame-ancestors 'self'";

// An HTML document with the title, cover and text of the article.
[[nodiscard]] std::string preview_page(const Article& article);

}  // namespace muster::rules
