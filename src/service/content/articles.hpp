// Articles that the organization's admins write and publish in the console and that its sites read
// (docs/content.md "Content").
#pragma once

#include "rules/content/articles.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

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

// Creates a draft. Throws CONFLICT if the slug is taken, and INVALID_STATE if the organization has
// kMostArticles.
rules::Article create_article(OrgTransaction& transaction, const NewArticle& in);
// Changes an article; a change of a published article is visible at once. `updated_at` changes only
// if a value does. Throws NOT_FOUND, and CONFLICT if the slug is taken.
rules::Article change_article(OrgTransaction& transaction, ArticleId id,
                              const ArticleChange& change, const VersionCheck& check = {});
// Publishes an article now, or at `at` in the future; or makes it a draft again. A published
// article is not published again, and a draft stays one. Throws NOT_FOUND; VALIDATION_ERROR if `at`
// is not in the future or too far away; INVALID_STATE if the article with an `at` is already
// published.
rules::Article publish_article(OrgTransaction& transaction, ArticleId id,
                               const std::optional<Timestamp>& at = {},
                               const VersionCheck& check = {});
rules::Article unpublish_article(OrgTransaction& transaction, ArticleId id,
                                 const VersionCheck& check = {});
// Throws NOT_FOUND.
void delete_article(OrgTransaction& transaction, ArticleId id, const VersionCheck& check = {});

std::optional<rules::Article> find_article(Context& context, OrgId organization, ArticleId id);
// The published article with this slug; nullopt if there is none or it is a draft.
std::optional<rules::Article> find_published_article(Context& context, OrgId organization,
                                                     std::string_view slug);

// Articles without their bodies.
struct ArticlePage {
    std::vector<rules::Article> articles;
    std::optional<std::string> next;  // the position of the next page; nullopt on the last page
};

// An absent condition matches every article.
struct ArticleFilter {
    std::optional<rules::ArticleStatus> status;
    std::optional<std::string> prefix;  // of the title, ignoring case and accents
};
// A page of articles: all of them or the drafts by creation, published articles by publication,
// newest first; scheduled articles by publication, the next one first; by title if a prefix is
// given. At most `limit` articles after `position`, which is "" or the `next` of a page of the same
// filter. With a prefix, a page may hold fewer although more follow, because it examines a bounded
// number of articles. Throws std::invalid_argument if the position is not from a previous page.
ArticlePage list_articles(Context& context, OrgId organization, const ArticleFilter& filter,
                          std::string_view position, int limit);

// An absent condition matches every article. The first condition given, in the order prefix, tag,
// locale, decides which index is read.
struct ContentFilter {
    std::optional<std::string> prefix;  // of the title, ignoring case and accents
    std::optional<std::string> tag;
    std::optional<std::string> locale;
};
// A page of the articles published at `now`, newest first, or by title if a prefix is given.
// `position` as above. A page may hold fewer than `limit` articles although more follow, because it
// examines a bounded number of articles.
ArticlePage list_published_articles(Context& context, OrgId organization,
                                    const ContentFilter& filter, Timestamp now,
                                    std::string_view position, int limit);
// How long a page of the articles published at `now` may be cached: at most `most`, and at most
// until the first publication after `now`.
std::chrono::seconds cache_time_of_articles(Context& context, OrgId organization, Timestamp now,
                                            std::chrono::seconds most);

}  // namespace muster::service
