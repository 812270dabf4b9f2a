// The statements of the tenancy suite on articles and their tags (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/content/articles.hpp"

#include <algorithm>

using namespace muster;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

namespace {

rules::Article article(ArticleId id) {
    rules::Article article;
    article.id = id;
    article.slug = "later-news";
    article.title = "Later news";
    article.tags.text = "[]";
    article.updated_at = kLater;
    return article;
}

// Whether one of the entries is that article.
bool holds(const std::vector<store::ArticleEntry>& entries, ArticleId id) {
    return std::any_of(entries.begin(), entries.end(), [&](const store::ArticleEntry& entry) {
        return entry.key.id == id || (entry.article && entry.article->id == id);
    });
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(articles) {
    check({"articles.insert"}, [&](OrgStore& org) {
        (void)store::insert_article(org, article(ArticleId::create()));
        return false;
    });
    client.execute("DELETE FROM articles WHERE organization_id = ?", stranger.id);
    check({"articles.count"}, [&](OrgStore& org) { return store::count_articles(org, 10) == 1; });
    check({"articles.update"}, [&](OrgStore& org) {
        (void)store::update_article(org, article(owner.article));
        return false;
    });
    check({"articles.set_published"}, [&](OrgStore& org) {
        store::set_article_published(org, article(owner.article));
        return false;
    });
    check({"articles.delete"},
          [&](OrgStore& org) { return store::delete_article(org, owner.article); });
    check({"articles.find"},
          [&](OrgStore& org) { return store::find_article(org, owner.article).has_value(); });
    check({"articles.lock"},
          [&](OrgStore& org) { return store::lock_article(org, owner.article).has_value(); });
    check({"articles.find_published"}, [&](OrgStore& org) {
        const auto found = store::find_published_article(org, "news", kLater);
        return found && found->id == owner.article;
    });
}

BOOST_AUTO_TEST_CASE(tags_of_articles) {
    check({"articles.insert_tags"}, [&](OrgStore& org) {
        const std::string tag = "league";
        store::insert_article_tags(org, owner.article, {&tag, 1}, kNow);
        return false;
    });
    check({"articles.set_tags_published"}, [&](OrgStore& org) {
        store::set_article_tags_published(org, owner.article, kLater);
        return false;
    });
    check({"articles.delete_tags"}, [&](OrgStore& org) {
        store::delete_article_tags(org, owner.article);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(pages_of_articles) {
    check({"articles.page"},
          [&](OrgStore& org) { return holds(store::page_articles(org, {}, 10), owner.article); });
    check({"articles.page_published"}, [&](OrgStore& org) {
        return holds(store::page_published_articles(org, kLater, {}, 10), owner.article);
    });
    check({"articles.page_of_locale"}, [&](OrgStore& org) {
        return holds(store::page_articles_of_locale(org, kLater, "en", {}, 10), owner.article);
    });
    check({"articles.page_of_tag"}, [&](OrgStore& org) {
        return holds(store::page_articles_of_tag(org, kLater, "cup", {}, {}, 10), owner.article);
    });
    check({"articles.page_by_title"}, [&](OrgStore& org) {
        return holds(
            store::page_articles_by_title(org, {"new", {}, {}, false, "cup", "en"}, {}, 10),
            owner.article);
    });
    check({"articles.page_scheduled"}, [&](OrgStore& org) {
        return holds(store::page_scheduled_articles(org, Timestamp(0), {}, 10), owner.article);
    });
    client.execute("UPDATE articles SET published_at = ? WHERE organization_id = ?", kLater,
                   owner.id);
    check({"articles.find_next_publication"},
          [&](OrgStore& org) { return store::find_next_publication(org, kNow) == kLater; });
    client.execute("UPDATE articles SET published_at = NULL WHERE organization_id = ?", owner.id);
    check({"articles.page_drafts"}, [&](OrgStore& org) {
        return holds(store::page_draft_articles(org, {}, 10), owner.article);
    });
}

BOOST_AUTO_TEST_SUITE_END()
