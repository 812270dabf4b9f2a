#include "rules/content/preview.hpp"

#include "print.hpp"

using namespace muster;

BOOST_AUTO_TEST_SUITE(article_preview)

BOOST_AUTO_TEST_CASE(a_preview_shows_title_cover_and_text) {
    rules::Article article;
    article.title = "Cup";
    article.locale = "en-GB";
    article.cover_url = "https://img.example/a.png?b=c&d";
    article.body_html = "<p>We <b>won</b>.</p>";
    BOOST_TEST(rules::preview_page(article) ==
               "<!DOCTYPE html>\n<html lang=\"en-GB\"><head><meta charset=\"utf-8\"><title>Cup"
               "</title></head>\n<body><article><h1>Cup</h1>\n"
               "<p><img src=\"https://img.example/a.png?b=c&amp;d\" alt=\"\"></p>\n"
               "<p>We <b>won</b>.</p>\n</article></body></html>\n");
}

BOOST_AUTO_TEST_CASE(text_cannot_become_markup) {
    rules::Article article;
    article.title = "</title><script>x()</script>";
    article.locale = "\" onload=\"x()";
    article.cover_url = "https://a.example/\"><script>";
    const std::string page = rules::preview_page(article);
    BOOST_TEST(page.find("<script") == std::string::npos);
    BOOST_TEST(page.find("\" onload") == std::string::npos);
    BOOST_TEST(page.find("&quot; onload=&quot;") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
