// Articles that the organization's admins write and publish in the console and that its sites read
// (docs/content.md "Content").
#pragma once

#include "rules/content/articles.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Validated and sanitized by the decoder (api/content/articles.cpp).
struct NewArticle {
    std::string slug;
    std::string title;
    std::string body_html;
    std::optional<std::string> excerpt;
    std::optional<std::string> locale;
    std::vector<std::string> tags;  // distinct
    std::optional<std::string> author;
    std::optional<std::string> cover_url;
};

// An absent field is not changed.
struct ArticleChange {
    using Text = std::optional<std::optional<std::string>>;  // the inner nullopt clears the field
    std::optional<std::string> slug;
    std::optional<std::string> title;
    std::optional<std::string> body_html;
    Text excerpt;
    Text locale;
    std::optional<std::vector<std::string>> tags;
    Text author;
    Text cover_url;
};

// Creates a draft. Throws CONFLICT if the slug is taken.
rules::Article create_article(OrgTransaction& transaction, const NewArticle& in);
// Changes an article; a change of a published article is visible at once. `updated_at` changes only
// if a value does. Throws NOT_FOUND, and CONFLICT if the slug is taken.
rules::Article change_article(OrgTransaction& transaction, ArticleId id,
                              const ArticleChange& change);
// Publishes an article, or makes it a draft again. An article in the requested state is not
// changed. `published_at` is the time of the last publication. Throws NOT_FOUND.
rules::Article publish_article(OrgTransaction& transaction, ArticleId id);
rules::Article unpublish_article(OrgTransaction& transaction, ArticleId id);
// Throws NOT_FOUND.
void delete_article(OrgTransaction& transaction, ArticleId id);

std::optional<rules::Article> find_article(Context& context, OrgId organization, ArticleId id);
// The published article with this slug; nullopt if there is none or it is a draft.
std::optional<rules::Article> find_published_article(Context& context, OrgId organization,
                                                     std::string_view slug);

// Articles without their bodies.
struct ArticlePage {
    std::vector<rules::Article> articles;
    std::optional<std::string> next;  // the position of the next page; nullopt on the last page
};

// A page of articles: all of them or the drafts by creation, published articles by publication,
// newest first. At most `limit` articles after `position`, which is "" or the `next` of a page of
// the same status. Throws std::invalid_argument if the position is not from a previous page.
ArticlePage list_articles(Context& context, OrgId organization,
                          std::optional<rules::ArticleStatus> status, std::string_view position,
                          int limit);

// An absent condition matches every article. The first condition given, in the order prefix, tag,
// locale, decides which index is read.
struct ContentFilter {
    std::optional<std::string> prefix;  // of the title, ignoring case and accents
    std::optional<std::string> tag;
    std::optional<std::string> locale;
};
// A page of published articles, newest first, or by title if a prefix is given. `position` as
// above. A page may hold fewer than `limit` articles although more follow, because it examines a
// bounded number of articles.
ArticlePage list_published_articles(Context& context, OrgId organization,
                                    const ContentFilter& filter, std::string_view position,
                                    int limit);

}  // namespace muster::service
