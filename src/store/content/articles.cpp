#include "store/content/articles.hpp"

#include "base/text.hpp"
#include "store/like_pattern.hpp"
#include "store/stored_json.hpp"

#include <limits>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;
using rules::Article;

namespace {

constexpr auto article_columns(const auto&... more) {
    return columns<Article>(
        column<&Article::organization_id>("a.organization_id"), column<&Article::id>("a.id"),
        column<&Article::slug>("a.slug"), column<&Article::title>("a.title"),
        column<&Article::excerpt>("a.excerpt"), column<&Article::locale>("a.locale"),
        converted<stored_texts, &Article::tags>("a.tags"), column<&Article::author>("a.author"),
        column<&Article::cover_url>("a.cover_url"),
        column<&Article::published_at>("a.published_at"),
        column<&Article::created_by>("a.created_by"), column<&Article::created_at>("a.created_at"),
        column<&Article::updated_at>("a.updated_at"), more...);
}
constexpr auto kCreatorEmail =
    column<&Article::created_by_email>("(SELECT e.email FROM admins e WHERE e.id = a.created_by)");
// Lists omit the body, which InnoDB stores outside the row.
constexpr auto kListed = article_columns(kCreatorEmail);
constexpr auto kPublished = article_columns(column<&Article::body_html>("a.body_html"));
constexpr auto kArticle = columns<Article>(kPublished, kCreatorEmail);

// An entry of a list: the index term, the id and the article. The article is absent if only the
// index entry was found.
constexpr auto entry_by(std::string_view term, std::string_view id) {
    return columns<ArticleEntry>(
        converted<or_empty<std::string>, &ArticleEntry::key, &ArticleKey::term>(term),
        column<&ArticleEntry::key, &ArticleKey::id>(id), nested<&ArticleEntry::article>(kListed));
}
constexpr auto kById = entry_by("NULL", "a.id");
constexpr auto kByTime = entry_by("a.published_at", "a.id");
constexpr auto kByTimeOfTag = entry_by("k.published_at", "k.article_id");
constexpr auto kByTitle = entry_by("k.title", "k.id");

// The position before the first entry of a descending index.
struct Newest {
    std::int64_t when = std::numeric_limits<std::int64_t>::max();
    std::string id = std::string(16, '\xff');
};
Newest start_after(const std::optional<ArticleKey>& after) {
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
    return db::try_unique([&] {
        org.execute(kInsert, article.id, article.slug, article.title, article.excerpt,
                    article.body_html, article.locale, article.tags.text, article.author,
                    article.cover_url, article.published_at, article.created_by, article.created_at,
                    article.updated_at);
    });
}

std::int64_t count_articles(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "articles.count",
        "SELECT COUNT(*) FROM (SELECT 1 FROM articles FORCE INDEX (slug) "
        "WHERE organization_id = :org LIMIT ?) AS counted"};
    return org.value<std::int64_t>(kCount, most);
}

bool update_article(db::OrgStore& org, const Article& article) {
    static constexpr OrgSql kUpdate{
        "articles.update",
        "UPDATE articles SET slug = ?, title = ?, excerpt = ?, body_html = ?, locale = ?, "
        "tags = ?, author = ?, cover_url = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    return db::try_unique([&] {
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
    static constexpr OrgSql kFind{"articles.find", kArticle,
                                  "SELECT {columns} FROM articles a "
                                  "WHERE a.organization_id = :org AND a.id = ?"};
    return org.one(kFind, id);
}

std::optional<Article> lock_article(db::OrgStore& org, ArticleId id) {
    static constexpr OrgSql kLock{"articles.lock", kArticle,
                                  "SELECT {columns} FROM articles a "
                                  "WHERE a.organization_id = :org AND a.id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::optional<Article> find_published_article(db::OrgStore& org, std::string_view slug,
                                              Timestamp now) {
    static constexpr OrgSql kFind{"articles.find_published", kPublished,
                                  "SELECT {columns} FROM articles a "
                                  "WHERE a.organization_id = :org AND a.slug = ? "
                                  "AND a.published_at <= ?"};
    return org.one(kFind, slug, now);
}

std::optional<Timestamp> find_next_publication(db::OrgStore& org, Timestamp now) {
    static constexpr OrgSql kFind{
        "articles.find_next_publication",
        "SELECT published_at FROM articles FORCE INDEX (published) "
        "WHERE organization_id = :org AND published_at > ? ORDER BY published_at LIMIT 1"};
    return org.one<Timestamp>(kFind, now);
}

std::vector<ArticleEntry> page_articles(db::OrgStore& org, const std::optional<ArticleKey>& after,
                                        int limit) {
    static constexpr OrgSql kPage{"articles.page", kById,
                                  "SELECT {columns} FROM articles a FORCE INDEX (PRIMARY) "
                                  "WHERE a.organization_id = :org AND a.id < ? "
                                  "ORDER BY a.id DESC LIMIT ?"};
    return org.all(kPage, start_after(after).id, limit);
}

std::vector<ArticleEntry> page_draft_articles(db::OrgStore& org,
                                              const std::optional<ArticleKey>& after, int limit) {
    static constexpr OrgSql kPage{
        "articles.page_drafts", kById,
        "SELECT {columns} FROM articles a FORCE INDEX (published) "
        "WHERE a.organization_id = :org AND a.published_at IS NULL AND a.id < ? "
        "ORDER BY a.id DESC LIMIT ?"};
    return org.all(kPage, start_after(after).id, limit);
}

std::vector<ArticleEntry> page_scheduled_articles(db::OrgStore& org, Timestamp now,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit) {
    static constexpr OrgSql kPage{
        "articles.page_scheduled", kByTime,
        "SELECT {columns} FROM articles a FORCE INDEX (published) WHERE a.organization_id = :org "
        "AND a.published_at > ? AND ((a.published_at = ? AND a.id > ?) OR a.published_at > ?) "
        "ORDER BY a.published_at, a.id LIMIT ?"};
    const ArticleKey place = after.value_or(ArticleKey());
    const auto when = parse_number<std::int64_t>(place.term).value_or(0);
    return org.all(kPage, now, when, place.id, when, limit);
}

std::vector<ArticleEntry> page_published_articles(db::OrgStore& org, Timestamp now,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit) {
    static constexpr OrgSql kPage{
        "articles.page_published", kByTime,
        "SELECT {columns} FROM articles a FORCE INDEX (published) WHERE a.organization_id = :org "
        "AND a.published_at <= ? AND ((a.published_at = ? AND a.id < ?) OR a.published_at < ?) "
        "ORDER BY a.published_at DESC, a.id DESC LIMIT ?"};
    const Newest place = start_after(after);
    return org.all(kPage, now, place.when, place.id, place.when, limit);
}

std::vector<ArticleEntry> page_articles_of_locale(db::OrgStore& org, Timestamp now,
                                                  std::string_view locale,
                                                  const std::optional<ArticleKey>& after,
                                                  int limit) {
    static constexpr OrgSql kPage{"articles.page_of_locale", kByTime,
                                  "SELECT {columns} FROM articles a FORCE INDEX (published_locale) "
                                  "WHERE a.organization_id = :org AND a.locale = ? "
                                  "AND a.published_at <= ? "
                                  "AND ((a.published_at = ? AND a.id < ?) OR a.published_at < ?) "
                                  "ORDER BY a.published_at DESC, a.id DESC LIMIT ?"};
    const Newest place = start_after(after);
    return org.all(kPage, locale, now, place.when, place.id, place.when, limit);
}

std::vector<ArticleEntry> page_articles_of_tag(db::OrgStore& org, Timestamp now,
                                               std::string_view tag,
                                               const std::optional<std::string>& locale,
                                               const std::optional<ArticleKey>& after, int limit) {
    static constexpr OrgSql kPage{
        "articles.page_of_tag", kByTimeOfTag,
        "SELECT {columns} FROM (SELECT published_at, article_id FROM article_tags FORCE INDEX (tagged) "
        "WHERE organization_id = :org AND tag = ? AND published_at <= ? "
        "AND ((published_at = ? AND article_id < ?) OR published_at < ?) "
        "ORDER BY published_at DESC, article_id DESC LIMIT ?) k "
        "LEFT JOIN articles a ON a.organization_id = :org AND a.id = k.article_id "
        "AND (? IS NULL OR a.locale = ?) ORDER BY k.published_at DESC, k.article_id DESC"};
    const Newest place = start_after(after);
    return org.all(kPage, tag, now, place.when, place.id, place.when, limit, locale, locale);
}

std::vector<ArticleEntry> page_articles_by_title(db::OrgStore& org, const TitleFilter& filter,
                                                 const std::optional<ArticleKey>& after,
                                                 int limit) {
    static constexpr OrgSql kPage{
        "articles.page_by_title", kByTitle,
        "SELECT {columns} FROM (SELECT title, id FROM articles FORCE INDEX (title) "
        "WHERE organization_id = :org AND title LIKE ? "
        "AND ((title = ? AND id > ?) OR title > ?) ORDER BY title, id LIMIT ?) k "
        "LEFT JOIN article_tags t ON t.organization_id = :org AND t.article_id = k.id "
        "AND t.tag = ? "
        "LEFT JOIN articles a ON a.organization_id = :org AND a.id = k.id "
        "AND (? IS NULL OR a.published_at >= ?) AND (? IS NULL OR a.published_at <= ?) "
        "AND (NOT ? OR a.published_at IS NULL) AND (? IS NULL OR t.tag IS NOT NULL) "
        "AND (? IS NULL OR a.locale = ?) ORDER BY k.title, k.id"};
    const ArticleKey place = after.value_or(ArticleKey());
    return org.all(kPage, like_pattern(filter.prefix), place.term, place.id, place.term, limit,
                   filter.tag, filter.from, filter.from, filter.until, filter.until,
                   filter.is_draft ? 1 : 0, filter.tag, filter.locale, filter.locale);
}

}  // namespace muster::store
