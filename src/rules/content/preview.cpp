#include "rules/content/preview.hpp"

#include "rules/content/html_escape.hpp"

namespace muster::rules {

std::string preview_page(const Article& article) {
    const std::string title = escaped_html(article.title);
    std::string page = "<!DOCTYPE html>\n<html";
    if (article.locale) page.append(" lang=\"").append(escaped_html(*article.locale)).append("\"");
    page.append("><head><meta charset=\"utf-8\"><title>").append(title).append("</title></head>\n");
    page.append("<body><article><h1>").append(title).append("</h1>\n");
    if (article.cover_url) {
        page.append("<p><img src=\"").append(escaped_html(*article.cover_url));
        page.append("\" alt=\"\"></p>\n");
    }
    page.append(article.body_html).append("\n</article></body></html>\n");
    return page;
}

}  // namespace muster::rules
