#include "service/content/articles.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/stored_json.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/content/articles.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::Article;
using rules::ArticleStatus;
using store::ArticleEntry;
using store::ArticleKey;

constexpr std::size_t kIdBytes = 16;
constexpr int kEntriesAPage = 200;  // the page size if articles must be filtered after the query

[[noreturn]] void reject_taken_slug() {
    throw Error(ErrorCode::Conflict).detail("field", "slug");
}

void reject_surplus_article(db::OrgStore& org, Timestamp now) {
    lock_counts(org, now);
    if (store::count_articles(org, rules::kMostArticles) < rules::kMostArticles) return;
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "an organization has at most " + std::to_string(rules::kMostArticles) +
                              " articles; delete one first");
}

Article locked_article(OrgTransaction& transaction, ArticleId id, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto article = store::lock_article(org, id);
    if (!article) throw Error(ErrorCode::NotFound);
    check_version(check, article->updated_at);
    article->set_status(transaction.now);
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

Article set_published(OrgTransaction& transaction, Article article,
                      const std::optional<Timestamp>& published_at) {
    db::OrgStore org(transaction.tx, transaction.org());
    article.published_at = published_at;
    article.set_status(transaction.now);
    article.updated_at = next_version(article.updated_at, transaction.now);
    store::set_article_published(org, article);
    store::set_article_tags_published(org, article.id, published_at);
    return article;
}

void check_publish_at(Timestamp at, Timestamp now) {
    if (at > now && at - now <= rules::kMostPublishAhead) return;
    Faults faults;
    faults.add("publish_at", FieldCode::OutOfRange,
               "is out of range; use a time in the next 366 days, or omit it to publish now");
    throw Error(ErrorCode::ValidationError).fields(faults);
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
    const Timestamp now = Timestamp::now();
    bool has_more = static_cast<int>(entries.size()) == requested;
    for (ArticleEntry& entry : entries) {
        if (entry.article && static_cast<int>(page.articles.size()) == limit) {
            has_more = true;
            break;
        }
        if (entry.article) {
            entry.article->set_status(now);
            page.articles.push_back(std::move(*entry.article));
        }
        last = &entry.key;
    }
    if (has_more && last) page.next = position_of(*last);
    return page;
}

// The next entries of the index for the first condition that is given.
std::vector<ArticleEntry> read_published(db::OrgStore& org, const ContentFilter& filter,
                                         Timestamp now, const std::optional<ArticleKey>& after,
                                         int limit) {
    if (filter.prefix) {
        const store::TitleFilter by_title{*filter.prefix, {},         now,
                                          false,          filter.tag, filter.locale};
        return store::page_articles_by_title(org, by_title, after, limit);
    }
    if (filter.tag) {
        return store::page_articles_of_tag(org, now, *filter.tag, filter.locale, after, limit);
    }
    if (filter.locale) {
        return store::page_articles_of_locale(org, now, *filter.locale, after, limit);
    }
    return store::page_published_articles(org, now, after, limit);
}

// The same for the console.
std::vector<ArticleEntry> read_of_status(db::OrgStore& org, std::optional<ArticleStatus> status,
                                         const std::optional<ArticleKey>& after, int limit) {
    if (!status) return store::page_articles(org, after, limit);
    if (*status == ArticleStatus::Draft) return store::page_draft_articles(org, after, limit);
    const Timestamp now = Timestamp::now();
    return *status == ArticleStatus::Published
               ? store::page_published_articles(org, now, after, limit)
               : store::page_scheduled_articles(org, now, after, limit);
}

store::TitleFilter title_filter_of(const ArticleFilter& filter) {
    store::TitleFilter by_title;
    by_title.prefix = *filter.prefix;
    const Timestamp now = Timestamp::now();
    if (filter.status == ArticleStatus::Published) by_title.until = now;
    if (filter.status == ArticleStatus::Scheduled) by_title.from = now + Milliseconds(1);
    by_title.is_draft = filter.status == ArticleStatus::Draft;
    return by_title;
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
    article.created_by_email = transaction.actor.admin_email;
    article.created_at = article.updated_at = transaction.now;
    db::OrgStore org(transaction.tx, transaction.org());
    reject_surplus_article(org, transaction.now);
    if (!store::insert_article(org, article)) reject_taken_slug();
    if (!in.tags.empty()) store::insert_article_tags(org, article.id, in.tags, std::nullopt);
    audit(transaction, "article.created", article.id.text(), {{"slug", article.slug}});
    return article;
}

Article change_article(OrgTransaction& transaction, ArticleId id, const ArticleChange& change,
                       const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    Article article = locked_article(transaction, id, check);
    const std::string tags_before = article.tags.text;
    if (!assign_all(article, change)) return article;
    article.updated_at = next_version(article.updated_at, transaction.now);
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

Article publish_article(OrgTransaction& transaction, ArticleId id,
                        const std::optional<Timestamp>& at, const VersionCheck& check) {
    if (at) check_publish_at(*at, transaction.now);
    Article article = locked_article(transaction, id, check);
    if (article.status == ArticleStatus::Published) {
        if (!at) return article;
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the article is published; unpublish it first");
    }
    if (at && article.published_at == at) return article;
    article = set_published(transaction, std::move(article), at.value_or(transaction.now));
    if (at) {
        audit(transaction, "article.scheduled", id.text(),
              {{"slug", article.slug}, {"publish_at", at->text()}});
    } else {
        audit(transaction, "article.published", id.text(), {{"slug", article.slug}});
    }
    return article;
}

Article unpublish_article(OrgTransaction& transaction, ArticleId id, const VersionCheck& check) {
    Article article = locked_article(transaction, id, check);
    if (!article.published_at) return article;
    article = set_published(transaction, std::move(article), std::nullopt);
    audit(transaction, "article.unpublished", id.text(), {{"slug", article.slug}});
    return article;
}

void delete_article(OrgTransaction& transaction, ArticleId id, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const Article article = locked_article(transaction, id, check);
    store::delete_article(org, id);
    audit(transaction, "article.deleted", id.text(), {{"slug", article.slug}});
}

// ---------------------------------------------------------------------------- reading

std::optional<Article> find_article(Context& context, OrgId organization, ArticleId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto article = store::find_article(org, id);
        if (article) article->set_status(Timestamp::now());
        return article;
    });
}

std::optional<Article> find_published_article(Context& context, OrgId organization,
                                              std::string_view slug) {
    if (!rules::is_article_slug(slug)) return std::nullopt;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_published_article(org, slug, Timestamp::now());
    });
}

ArticlePage list_articles(Context& context, OrgId organization, const ArticleFilter& filter,
                          std::string_view position, int limit) {
    const auto after = key_of(position);
    const int size = filter.prefix ? kEntriesAPage : limit + 1;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto entries =
            filter.prefix ? store::page_articles_by_title(org, title_filter_of(filter), after, size)
                          : read_of_status(org, filter.status, after, size);
        return page_of(std::move(entries), size, limit);
    });
}

ArticlePage list_published_articles(Context& context, OrgId organization,
                                    const ContentFilter& filter, Timestamp now,
                                    std::string_view position, int limit) {
    const auto after = key_of(position);
    const bool has_conditions = filter.prefix || (filter.tag && filter.locale);
    const int size = has_conditions ? kEntriesAPage : limit + 1;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return page_of(read_published(org, filter, now, after, size), size, limit);
    });
}

std::chrono::seconds cache_time_of_articles(Context& context, OrgId organization, Timestamp now,
                                            std::chrono::seconds most) {
    const auto next = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_next_publication(org, now);
    });
    if (!next) return most;
    return std::min(most, std::chrono::floor<std::chrono::seconds>(*next - now));
}

}  // namespace muster::service
