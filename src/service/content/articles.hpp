// Articles: written, published and taken back by the organization's admins (Console), and read by
// its sites (docs/content.md "Content").
#pragma once

#include "rules/content/articles.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Checked and sanitised by the decoder (api/content/articles.cpp).
struct NewArticle {
    std::string slug;
    std::string title;
    std::string body_html;
    std::optional<std::string> excerpt;
    std::optional<std::string> locale;
    std::vector<std::string> tags;  // each once
    std::optional<std::string> author;
    std::optional<std::string> cover_url;
};

// What is absent stays as it is.
struct ArticleChange {
    using Text = std::optional<std::optional<std::string>>;  // nullopt inside clears
    std::optional<std::string> slug;
    std::optional<std::string> title;
    std::optional<std::string> body_html;
    Text excerpt;
    Text locale;
    std::optional<std::vector<std::string>> tags;
    Text author;
    Text cover_url;
};

// A draft. Throws CONFLICT for a slug that the organization has.
rules::Article create_article(OrgTransaction& transaction, const NewArticle& in);
// Counts at once where the article is published. What changes nothing leaves updated_at alone.
// Throws NOT_FOUND, and CONFLICT as above.
rules::Article change_article(OrgTransaction& transaction, ArticleId id,
                              const ArticleChange& change);
// From draft to published, and back; one that is so already stays as it is. Published again it is
// new: published_at is that moment. Throws NOT_FOUND.
rules::Article publish_article(OrgTransaction& transaction, ArticleId id);
rules::Article unpublish_article(OrgTransaction& transaction, ArticleId id);
// Throws NOT_FOUND.
void delete_article(OrgTransaction& transaction, ArticleId id);

std::optional<rules::Article> find_article(Context& context, OrgId organization, ArticleId id);
// nullopt for a draft's slug too.
std::optional<rules::Article> find_published_article(Context& context, OrgId organization,
                                                     std::string_view slug);

// Articles without their bodies.
struct ArticlePage {
    std::vector<rules::Article> articles;
    std::optional<std::string> next;  // where the next page begins; nullopt: this was the last
};

// All, or the drafts, newest first; published ones by the time of that. At most `limit` behind
// `position` ("" = from the beginning), which is the `next` of a page of the same status. Throws
// std::invalid_argument for a position that no page gave.
ArticlePage list_articles(Context& context, OrgId organization,
                          std::optional<rules::ArticleStatus> status, std::string_view position,
                          int limit);

// Each absent condition takes all. The first that is given leads: prefix, tag, locale.
struct ContentFilter {
    std::optional<std::string> prefix;  // of the title, ignoring case and accents
    std::optional<std::string> tag;
    std::optional<std::string> locale;
};
// Published ones, newest first; with a prefix by title. As above; there can be fewer although more
// follow, because a page looks at a bounded number of articles.
ArticlePage list_published_articles(Context& context, OrgId organization,
                                    const ContentFilter& filter, std::string_view position,
                                    int limit);

}  // namespace muster::service
