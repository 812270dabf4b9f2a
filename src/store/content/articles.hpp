// Articles and the index of their tags. The row of a tag repeats the article's published_at, so
// functions that change one must be called together with those that change the other, in one
// transaction (service/content/articles.cpp).
#pragma once

#include "db/transaction.hpp"
#include "rules/content/articles.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// False if another article of the organization has the slug.
[[nodiscard]] bool insert_article(db::OrgStore& org, const rules::Article& article);
// Counted up to `most`.
std::int64_t count_articles(db::OrgStore& org, std::int64_t most);
// Writes all fields that a person can change, and updated_at. False if another article of the
// organization has the slug.
[[nodiscard]] bool update_article(db::OrgStore& org, const rules::Article& article);
// Writes published_at and updated_at.
void set_article_published(db::OrgStore& org, const rules::Article& article);
// False if the organization does not have the article. Also deletes its tags.
bool delete_article(db::OrgStore& org, ArticleId id);

// `tags`: one or more, without duplicates.
void insert_article_tags(db::OrgStore& org, ArticleId id, std::span<const std::string> tags,
                         const std::optional<Timestamp>& published_at);
void set_article_tags_published(db::OrgStore& org, ArticleId id,
                                const std::optional<Timestamp>& published_at);
void delete_article_tags(db::OrgStore& org, ArticleId id);

std::optional<rules::Article> find_article(db::OrgStore& org, ArticleId id);
// Locked until the transaction ends.
std::optional<rules::Article> lock_article(db::OrgStore& org, ArticleId id);
// nullopt if it is published later than `now`.
std::optional<rules::Article> find_published_article(db::OrgStore& org, std::string_view slug,
                                                     Timestamp now);
// The time of the next scheduled publication after `now`.
std::optional<Timestamp> find_next_publication(db::OrgStore& org, Timestamp now);

// A position in an index: the indexed term ("" if the index is ordered by id only) and the id.
struct ArticleKey {
    std::string term;
    ArticleId id;
};
struct ArticleEntry {
    ArticleKey key;
    std::optional<rules::Article> article;  // nullopt: it does not meet the conditions
};
// These functions read `limit` entries of one index after a position (nullopt: from the start),
// without the bodies of the articles.
//
// Ordered by id, newest first.
std::vector<ArticleEntry> page_articles(db::OrgStore& org, const std::optional<ArticleKey>& after,
                                        int limit);
std::vector<ArticleEntry> page_draft_articles(db::OrgStore& org,
                                              const std::optional<ArticleKey>& after, int limit);
// Ordered by (published_at, id), the next publication first. The terms are milliseconds.
std::vector<ArticleEntry> page_scheduled_articles(db::OrgStore& org, Timestamp now,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit);
// Published until `now`, ordered by (published_at, id), newest first. The terms are milliseconds.
std::vector<ArticleEntry> page_published_articles(db::OrgStore& org, Timestamp now,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit);
std::vector<ArticleEntry> page_articles_of_locale(db::OrgStore& org, Timestamp now,
                                                  std::string_view locale,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit);
std::vector<ArticleEntry> page_articles_of_tag(db::OrgStore& org, Timestamp now,
                                               std::string_view tag,
                                               const std::optional<std::string>& locale,
                                               const std::optional<ArticleKey>& after, int limit);
// Ordered by (title, id). Titles that begin with `prefix`; case and accents are ignored, as in the
// column's collation. An absent condition matches every article.
struct TitleFilter {
    std::string prefix;
    std::optional<Timestamp> from;   // published_at at this time or later
    std::optional<Timestamp> until;  // published_at at this time or earlier
    bool is_draft = false;           // not published at any time
    std::optional<std::string> tag;
    std::optional<std::string> locale;
};
std::vector<ArticleEntry> page_articles_by_title(db::OrgStore& org, const TitleFilter& filter,
                                                 const std::optional<ArticleKey>& after, int limit);

}  // namespace muster::store
