#include "store/content/articles.hpp"

#include "base/text.hpp"
#include "store/like_pattern.hpp"

#include <limits>

namespace muster::store {

using db::OrgSql;
using db::Param;
using rules::Article;

namespace {

// The body stands last and can be left out: it is stored apart from the rest of the row.
#define ARTICLE_COLUMNS                                                                 \
    "a.organization_id, a.id, a.slug, a.title, a.excerpt, a.locale, a.tags, a.author, " \
    "a.cover_url, a.published_at, a.created_by, a.created_at, a.updated_at"

enum class Body : std::uint8_t { LeftOut, Last };

// From the columns behind `before`.
Article article_of(const db::Rows& rows, unsigned before, Body body) {
    Article article;
    article.organization_id = rows.id<OrgId>(before + 1);
    article.id = rows.id<ArticleId>(before + 2);
    article.slug = rows.bytes(before + 3);
    article.title = rows.bytes(before + 4);
    article.excerpt = rows.optional_text(before + 5);
    article.locale = rows.optional_text(before + 6);
    article.tags.text = rows.bytes(before + 7);
    article.author = rows.optional_text(before + 8);
    article.cover_url = rows.optional_text(before + 9);
    article.published_at = rows.optional_timestamp(before + 10);
    article.created_by = rows.optional_id<AdminId>(before + 11);
    article.created_at = rows.timestamp(before + 12);
    article.updated_at = rows.timestamp(before + 13);
    if (body == Body::Last) article.body_html = rows.bytes(before + 14);
    return article;
}

std::optional<Article> one_article(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return article_of(rows, 0, Body::Last);
}

// Rows of (term or NULL, id, the article's columns or NULL).
std::vector<ArticleEntry> entries_of(db::Rows rows) {
    std::vector<ArticleEntry> entries;
    while (rows.next()) {
        ArticleEntry& entry = entries.emplace_back();
        entry.key = {rows.text_or_empty(1), rows.id<ArticleId>(2)};
        if (!rows.is_null(3)) entry.article = article_of(rows, 2, Body::LeftOut);
    }
    return entries;
}

// Before what a descending index begins with.
struct Newest {
    std::int64_t when = std::numeric_limits<std::int64_t>::max();
    std::string id = std::string(16, '\xff');
};
Newest behind(const std::optional<ArticleKey>& after) {
    if (!after) return {};
    return {parse_number<std::int64_t>(after->term).value_or(0), std::string(after->id.bytes())};
}

}  // namespace

bool insert_article(db::OrgStore& org, const Article& article) {
    static constexpr OrgSql kInsert{
        "articles.insert",
        "INSERT INTO articles (organization_id, id, slug, title, excerpt, body_html, locale, tags, "
        "author, cover_url, published_at, created_by, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::unless_taken([&] {
        org.execute(kInsert, article.id, article.slug, article.title, article.excerpt,
                    article.body_html, article.locale, article.tags.text, article.author,
                    article.cover_url, article.published_at, article.created_by, article.created_at,
                    article.updated_at);
    });
}

bool update_article(db::OrgStore& org, const Article& article) {
    static constexpr OrgSql kUpdate{
        "articles.update",
        "UPDATE articles SET slug = ?, title = ?, excerpt = ?, body_html = ?, locale = ?, "
        "tags = ?, author = ?, cover_url = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    return db::unless_taken([&] {
        org.execute(kUpdate, article.slug, article.title, article.excerpt, article.body_html,
                    article.locale, article.tags.text, article.author, article.cover_url,
                    article.updated_at, article.id);
    });
}

void set_article_published(db::OrgStore& org, const Article& article) {
    static constexpr OrgSql kSet{"articles.set_published",
                                 "UPDATE articles SET published_at = ?, updated_at = ? "
                                 "WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, article.published_at, article.updated_at, article.id);
}

bool delete_article(db::OrgStore& org, ArticleId id) {
    static constexpr OrgSql kDelete{"articles.delete",
                                    "DELETE FROM articles WHERE organization_id = :org AND id = ?"};
    return org.execute(kDelete, id) == 1;
}

void insert_article_tags(db::OrgStore& org, ArticleId id, std::span<const std::string> tags,
                         const std::optional<Timestamp>& published_at) {
    static constexpr OrgSql kInsert{
        "articles.insert_tags",
        "INSERT INTO article_tags (organization_id, article_id, tag, published_at) "
        "VALUES {(:org, ?, ?, ?)}"};
    std::vector<Param> params;
    for (const std::string& tag : tags) params.insert(params.end(), {id, tag, published_at});
    org.execute_bulk(kInsert, tags.size(), params);
}

void set_article_tags_published(db::OrgStore& org, ArticleId id,
                                const std::optional<Timestamp>& published_at) {
    static constexpr OrgSql kSet{"articles.set_tags_published",
                                 "UPDATE article_tags SET published_at = ? "
                                 "WHERE organization_id = :org AND article_id = ?"};
    org.execute(kSet, published_at, id);
}

void delete_article_tags(db::OrgStore& org, ArticleId id) {
    static constexpr OrgSql kDelete{
        "articles.delete_tags",
        "DELETE FROM article_tags WHERE organization_id = :org AND article_id = ?"};
    org.execute(kDelete, id);
}

std::optional<Article> find_article(db::OrgStore& org, ArticleId id) {
    static constexpr OrgSql kFind{"articles.find", "SELECT " ARTICLE_COLUMNS
                                                   ", a.body_html FROM articles a "
                                                   "WHERE a.organization_id = :org AND a.id = ?"};
    return one_article(org.query(kFind, id));
}

std::optional<Article> lock_article(db::OrgStore& org, ArticleId id) {
    static constexpr OrgSql kLock{"articles.lock",
                                  "SELECT " ARTICLE_COLUMNS
                                  ", a.body_html FROM articles a "
                                  "WHERE a.organization_id = :org AND a.id = ? FOR UPDATE"};
    return one_article(org.query(kLock, id));
}

std::optional<Article> find_published_article(db::OrgStore& org, std::string_view slug) {
    static constexpr OrgSql kFind{"articles.find_published",
                                  "SELECT " ARTICLE_COLUMNS
                                  ", a.body_html FROM articles a "
                                  "WHERE a.organization_id = :org AND a.slug = ? "
                                  "AND a.published_at IS NOT NULL"};
    return one_article(org.query(kFind, slug));
}

std::vector<ArticleEntry> page_articles(db::OrgStore& org, const std::optional<ArticleKey>& after,
                                        int limit) {
    static constexpr OrgSql kPage{"articles.page", "SELECT NULL, a.id, " ARTICLE_COLUMNS
                                                   " FROM articles a FORCE INDEX (PRIMARY) "
                                                   "WHERE a.organization_id = :org AND a.id < ? "
                                                   "ORDER BY a.id DESC LIMIT ?"};
    return entries_of(org.query(kPage, behind(after).id, limit));
}

std::vector<ArticleEntry> page_draft_articles(db::OrgStore& org,
                                              const std::optional<ArticleKey>& after, int limit) {
    static constexpr OrgSql kPage{
        "articles.page_drafts",
        "SELECT NULL, a.id, " ARTICLE_COLUMNS
        " FROM articles a FORCE INDEX (published) "
        "WHERE a.organization_id = :org AND a.published_at IS NULL AND a.id < ? "
        "ORDER BY a.id DESC LIMIT ?"};
    return entries_of(org.query(kPage, behind(after).id, limit));
}

std::vector<ArticleEntry> page_published_articles(db::OrgStore& org,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit) {
    static constexpr OrgSql kPage{
        "articles.page_published",
        "SELECT a.published_at, a.id, " ARTICLE_COLUMNS
        " FROM articles a FORCE INDEX (published) WHERE a.organization_id = :org "
        "AND ((a.published_at = ? AND a.id < ?) OR a.published_at < ?) "
        "ORDER BY a.published_at DESC, a.id DESC LIMIT ?"};
    const Newest place = behind(after);
    return entries_of(org.query(kPage, place.when, place.id, place.when, limit));
}

std::vector<ArticleEntry> page_articles_of_locale(db::OrgStore& org, std::string_view locale,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit) {
    static constexpr OrgSql kPage{"articles.page_of_locale",
                                  "SELECT a.published_at, a.id, " ARTICLE_COLUMNS
                                  " FROM articles a FORCE INDEX (published_locale) "
                                  "WHERE a.organization_id = :org AND a.locale = ? "
                                  "AND ((a.published_at = ? AND a.id < ?) OR a.published_at < ?) "
                                  "ORDER BY a.published_at DESC, a.id DESC LIMIT ?"};
    const Newest place = behind(after);
    return entries_of(org.query(kPage, locale, place.when, place.id, place.when, limit));
}

std::vector<ArticleEntry> page_articles_of_tag(db::OrgStore& org, std::string_view tag,
                                               const std::optional<std::string>& locale,
                                               const std::optional<ArticleKey>& after, int limit) {
    static constexpr OrgSql kPage{
        "articles.page_of_tag",
        "SELECT k.published_at, k.article_id, " ARTICLE_COLUMNS
        " FROM (SELECT published_at, article_id FROM article_tags FORCE INDEX (tagged) "
        "WHERE organization_id = :org AND tag = ? "
        "AND ((published_at = ? AND article_id < ?) OR published_at < ?) "
        "ORDER BY published_at DESC, article_id DESC LIMIT ?) k "
        "LEFT JOIN articles a ON a.organization_id = :org AND a.id = k.article_id "
        "AND (? IS NULL OR a.locale = ?) ORDER BY k.published_at DESC, k.article_id DESC"};
    const Newest place = behind(after);
    return entries_of(
        org.query(kPage, tag, place.when, place.id, place.when, limit, locale, locale));
}

std::vector<ArticleEntry> page_articles_by_title(db::OrgStore& org, const TitleFilter& filter,
                                                 const std::optional<ArticleKey>& after,
                                                 int limit) {
    static constexpr OrgSql kPage{
        "articles.page_by_title",
        "SELECT k.title, k.id, " ARTICLE_COLUMNS
        " FROM (SELECT title, id FROM articles FORCE INDEX (title) "
        "WHERE organization_id = :org AND title LIKE ? "
        "AND ((title = ? AND id > ?) OR title > ?) ORDER BY title, id LIMIT ?) k "
        "LEFT JOIN article_tags t ON t.organization_id = :org AND t.article_id = k.id "
        "AND t.tag = ? "
        "LEFT JOIN articles a ON a.organization_id = :org AND a.id = k.id "
        "AND a.published_at IS NOT NULL AND (? IS NULL OR t.tag IS NOT NULL) "
        "AND (? IS NULL OR a.locale = ?) ORDER BY k.title, k.id"};
    const ArticleKey place = after.value_or(ArticleKey());
    return entries_of(org.query(kPage, like_pattern(filter.prefix), place.term, place.id,
                                place.term, limit, filter.tag, filter.tag, filter.locale,
                                filter.locale));
}

}  // namespace muster::store
