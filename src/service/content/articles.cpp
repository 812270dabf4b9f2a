#include "service/content/articles.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/stored_json.hpp"
#include "service/audit.hpp"
#include "store/content/articles.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::Article;
using store::ArticleEntry;
using store::ArticleKey;

constexpr std::size_t kIdBytes = 16;
constexpr int kEntriesAPage = 200;  // the page size if articles must be filtered after the query

[[noreturn]] void reject_taken_slug() {
    throw Error(ErrorCode::Conflict).detail("field", "slug");
}

// Articles that are created at the same time may exceed the limit.
void reject_surplus_article(db::OrgStore& org) {
    if (store::count_articles(org, rules::kMostArticles) < rules::kMostArticles) return;
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "an organization has at most " + std::to_string(rules::kMostArticles) +
                              " articles; delete one first");
}

Article locked_article(db::OrgStore& org, ArticleId id) {
    auto article = store::lock_article(org, id);
    if (!article) throw Error(ErrorCode::NotFound);
    return std::move(*article);
}

// Assigns `from` if it is given. Returns whether the value changed.
template <class To, class From>
bool assign(To& to, const std::optional<From>& from) {
    if (!from || to == *from) return false;
    to = *from;
    return true;
}

bool assign_all(Article& article, const ArticleChange& change) {
    const auto tags =
        change.tags ? std::optional(rules::json_of_texts(*change.tags)) : std::nullopt;
    const std::array changed = {
        assign(article.slug, change.slug),           assign(article.title, change.title),
        assign(article.body_html, change.body_html), assign(article.excerpt, change.excerpt),
        assign(article.locale, change.locale),       assign(article.tags.text, tags),
        assign(article.author, change.author),       assign(article.cover_url, change.cover_url)};
    return std::find(changed.begin(), changed.end(), true) != changed.end();
}

Article set_published(OrgTransaction& transaction, ArticleId id,
                      const std::optional<Timestamp>& published_at, std::string_view action) {
    db::OrgStore org(transaction.tx, transaction.org());
    Article article = locked_article(org, id);
    if (article.published_at.has_value() == published_at.has_value()) return article;
    article.published_at = published_at;
    article.updated_at = transaction.now;
    store::set_article_published(org, article);
    store::set_article_tags_published(org, id, published_at);
    audit(transaction, action, id.text(), {{"slug", article.slug}});
    return article;
}

// ---------------------------------------------------------------------------- pages

// A position is the article's id followed by the term.
std::string position_of(const ArticleKey& key) {
    return std::string(key.id.bytes()) + key.term;
}

std::optional<ArticleKey> key_of(std::string_view position) {
    if (position.empty()) return std::nullopt;
    const auto id = Uuid::from_bytes(position.substr(0, kIdBytes));
    if (!id) throw std::invalid_argument("the position is not from a previous page");
    return ArticleKey{std::string(position.substr(kIdBytes)), ArticleId(*id)};
}

// A page of the first `limit` articles that match, from the result of a query for `requested`
// entries.
ArticlePage page_of(std::vector<ArticleEntry> entries, int requested, int limit) {
    ArticlePage page;
    const ArticleKey* last = nullptr;  // the last entry examined
    bool has_more = static_cast<int>(entries.size()) == requested;
    for (ArticleEntry& entry : entries) {
        if (entry.article && static_cast<int>(page.articles.size()) == limit) {
            has_more = true;
            break;
        }
        if (entry.article) page.articles.push_back(std::move(*entry.article));
        last = &entry.key;
    }
    if (has_more && last) page.next = position_of(*last);
    return page;
}

// The next entries of the index for the first condition that is given.
std::vector<ArticleEntry> read_published(db::OrgStore& org, const ContentFilter& filter,
                                         const std::optional<ArticleKey>& after, int limit) {
    if (filter.prefix) {
        return store::page_articles_by_title(org, {*filter.prefix, filter.tag, filter.locale},
                                             after, limit);
    }
    if (filter.tag) {
        return store::page_articles_of_tag(org, *filter.tag, filter.locale, after, limit);
    }
    if (filter.locale) return store::page_articles_of_locale(org, *filter.locale, after, limit);
    return store::page_published_articles(org, after, limit);
}

}  // namespace

// ---------------------------------------------------------------------------- writing

Article create_article(OrgTransaction& transaction, const NewArticle& in) {
    Article article;
    article.organization_id = transaction.org();
    article.id = ArticleId::create();
    article.slug = in.slug;
    article.title = in.title;
    article.body_html = in.body_html;
    article.excerpt = in.excerpt;
    article.locale = in.locale;
    article.tags.text = rules::json_of_texts(in.tags);
    article.author = in.author;
    article.cover_url = in.cover_url;
    article.created_by = transaction.actor.admin;
    article.created_at = article.updated_at = transaction.now;
    db::OrgStore org(transaction.tx, transaction.org());
    reject_surplus_article(org);
    if (!store::insert_article(org, article)) reject_taken_slug();
    if (!in.tags.empty()) store::insert_article_tags(org, article.id, in.tags, std::nullopt);
    audit(transaction, "article.created", article.id.text(), {{"slug", article.slug}});
    return article;
}

Article change_article(OrgTransaction& transaction, ArticleId id, const ArticleChange& change) {
    db::OrgStore org(transaction.tx, transaction.org());
    Article article = locked_article(org, id);
    const std::string tags_before = article.tags.text;
    if (!assign_all(article, change)) return article;
    article.updated_at = transaction.now;
    if (!store::update_article(org, article)) reject_taken_slug();
    if (article.tags.text != tags_before) {
        store::delete_article_tags(org, id);
        if (!change.tags->empty()) {
            store::insert_article_tags(org, id, *change.tags, article.published_at);
        }
    }
    audit(transaction, "article.updated", id.text(), {{"slug", article.slug}});
    return article;
}

Article publish_article(OrgTransaction& transaction, ArticleId id) {
    return set_published(transaction, id, transaction.now, "article.published");
}

Article unpublish_article(OrgTransaction& transaction, ArticleId id) {
    return set_published(transaction, id, std::nullopt, "article.unpublished");
}

void delete_article(OrgTransaction& transaction, ArticleId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const Article article = locked_article(org, id);
    store::delete_article(org, id);
    audit(transaction, "article.deleted", id.text(), {{"slug", article.slug}});
}

// ---------------------------------------------------------------------------- reading

std::optional<Article> find_article(Context& context, OrgId organization, ArticleId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_article(org, id);
    });
}

std::optional<Article> find_published_article(Context& context, OrgId organization,
                                              std::string_view slug) {
    if (!rules::is_article_slug(slug)) return std::nullopt;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_published_article(org, slug);
    });
}

ArticlePage list_articles(Context& context, OrgId organization,
                          std::optional<rules::ArticleStatus> status, std::string_view position,
                          int limit) {
    using rules::ArticleStatus;
    const auto after = key_of(position);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto entries = status == ArticleStatus::Published
                           ? store::page_published_articles(org, after, limit + 1)
                       : status == ArticleStatus::Draft
                           ? store::page_draft_articles(org, after, limit + 1)
                           : store::page_articles(org, after, limit + 1);
        return page_of(std::move(entries), limit + 1, limit);
    });
}

ArticlePage list_published_articles(Context& context, OrgId organization,
                                    const ContentFilter& filter, std::string_view position,
                                    int limit) {
    const auto after = key_of(position);
    const bool has_conditions = filter.prefix || (filter.tag && filter.locale);
    const int size = has_conditions ? kEntriesAPage : limit + 1;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return page_of(read_published(org, filter, after, size), size, limit);
    });
}

}  // namespace muster::service
