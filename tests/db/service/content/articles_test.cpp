// service/content/articles.hpp: articles are written, published, unpublished and paged, and the
// index of their tags matches the articles.
#include "service/content/articles.hpp"
#include "rules/audit.hpp"

#include "db/fixture.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"

#include "print.hpp"

#include <algorithm>
#include <random>

using namespace muster;
using rules::Article;
using rules::ArticleStatus;
using service::ArticleChange;
using service::ContentFilter;
using service::NewArticle;
using test::code_of;
using test::Fixture;

namespace {

using Ids = std::vector<std::string>;

// Texts that the collation treats as equal, texts with wildcards, and texts with a common prefix.
const std::vector<std::string> kTitles = {"Ann",      "ann", "\u00c4nn", "a%b", "a_b",
                                          "a\\b",     "axb", "a",        "Cup", "cup final",
                                          "C\u00fcp", "%",   "\\",       "_",   "\U0001f600 cup"};
const std::vector<std::string> kPrefixes = {"a", "AN", "a%", "a_", "a\\",       "c\u00fb",
                                            "%", "\\", "_",  "zz", "\U0001f600"};

struct Articles : Fixture {
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, admin, std::nullopt, "req-1"}, now};
            return work(transaction);
        });
    }
    Article create(const NewArticle& in) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_article(transaction, in);
        });
    }
    Article create(std::string slug, std::vector<std::string> tags = {}) {
        return create({std::move(slug), "Title", "<p>x</p>", {}, "en", std::move(tags), {}, {}});
    }
    Article change(ArticleId id, const ArticleChange& wanted) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::change_article(transaction, id, wanted);
        });
    }
    Article publish(ArticleId id, std::optional<Timestamp> at = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::publish_article(transaction, id, at);
        });
    }
    Article unpublish(ArticleId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::unpublish_article(transaction, id);
        });
    }
    void remove(ArticleId id) {
        as_admin([&](service::OrgTransaction& transaction) {
            service::delete_article(transaction, id);
        });
    }
    std::vector<std::string> actions() {
        std::vector<std::string> actions;
        for (const auto& entry : service::newest_audit_entries(context, acme, std::nullopt, 100)) {
            if (entry.action.starts_with("article.")) actions.push_back(entry.action);
        }
        std::reverse(actions.begin(), actions.end());
        return actions;
    }

    // Rows of the tag index that differ from their article, and articles without index rows.
    void check_tags(std::int64_t expected) {
        BOOST_TEST(client.number("SELECT COUNT(*) FROM article_tags") == expected);
        BOOST_TEST(client.number("SELECT COUNT(*) FROM article_tags t JOIN articles a "
                                 "ON a.organization_id = t.organization_id AND a.id = t.article_id "
                                 "WHERE t.published_at <=> a.published_at AND "
                                 "JSON_CONTAINS(a.tags, JSON_QUOTE(t.tag))") == expected);
        BOOST_TEST(client.number("SELECT COALESCE(SUM(JSON_LENGTH(tags)), 0) FROM articles") ==
                   expected);
    }

    template <class Page>
    Ids walk(const Page& page_at) {
        Ids ids;
        std::string position;
        for (int page = 0; page < 2000; ++page) {
            const service::ArticlePage got = page_at(position);
            for (const auto& article : got.articles) ids.push_back(article.id.text());
            if (!got.next) return ids;
            position = *got.next;
        }
        BOOST_FAIL("the pages do not end");
        return ids;
    }
    Ids published(const ContentFilter& filter, int limit) {
        return walk([&](const std::string& position) {
            const auto page = service::list_published_articles(context, acme, filter,
                                                               Timestamp::now(), position, limit);
            BOOST_TEST(page.articles.size() <= static_cast<std::size_t>(limit));
            return page;
        });
    }
    // The expected result of the filter, computed without an index, a limit or a cursor.
    Ids expected(const ContentFilter& filter) {
        std::string pattern;
        for (const char c : filter.prefix.value_or("")) {
            pattern += std::string_view("!%_").find(c) == std::string_view::npos ? "" : "!";
            pattern += c;
        }
        auto rows = client.query(
            std::string("SELECT id FROM articles IGNORE INDEX (published, published_locale, title) "
                        "WHERE organization_id = ? AND published_at IS NOT NULL "
                        "AND title LIKE ? ESCAPE '!' AND (? IS NULL OR locale = ?) "
                        "AND (? IS NULL OR JSON_CONTAINS(tags, JSON_QUOTE(?))) ORDER BY ") +
                (filter.prefix ? "title, id" : "published_at DESC, id DESC"),
            acme, pattern + "%", filter.locale, filter.locale, filter.tag, filter.tag.value_or(""));
        Ids ids;
        while (rows.next()) ids.push_back(rows.id<ArticleId>(1).text());
        return ids;
    }

    // The entries that the statements of this session have read so far.
    std::int64_t rows_read() {
        return database.autocommit([](db::Tx& tx) { return test::entries_read(tx); });
    }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
    Timestamp now = Timestamp::now() - std::chrono::hours(1);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(articles, Articles)

BOOST_AUTO_TEST_CASE(an_article_is_a_draft_until_it_is_published_and_after_it_is_unpublished) {
    const auto draft = create("news", {"cup", "league"});
    BOOST_TEST(draft.status == ArticleStatus::Draft);
    BOOST_TEST(draft.created_by == admin);
    check_tags(2);
    BOOST_TEST(!service::find_published_article(context, acme, "news"));

    now = now + Milliseconds(1000);
    const auto article = publish(draft.id);
    BOOST_TEST(article.published_at == now);
    BOOST_TEST(article.updated_at == now);
    check_tags(2);
    const auto found = service::find_published_article(context, acme, "news");
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->body_html == "<p>x</p>");

    now = now + Milliseconds(1000);
    BOOST_TEST(publish(draft.id).published_at == article.published_at);  // unchanged
    unpublish(draft.id);
    check_tags(2);
    BOOST_TEST(!service::find_published_article(context, acme, "news"));
    BOOST_TEST(unpublish(draft.id).updated_at == now);
    BOOST_TEST(publish(draft.id).published_at == now);  // new again
    remove(draft.id);
    check_tags(0);
    BOOST_TEST(!service::find_article(context, acme, draft.id));
    BOOST_TEST(actions() == (std::vector<std::string>{"article.created", "article.published",
                                                      "article.unpublished", "article.published",
                                                      "article.deleted"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_change_is_applied_completely_and_a_repetition_changes_nothing) {
    const auto article = publish(create("news", {"cup"}).id);
    now = now + Milliseconds(1000);
    ArticleChange same;
    same.slug = "news";
    same.excerpt.emplace();
    same.tags = {"cup"};
    BOOST_TEST(change(article.id, same).updated_at == article.updated_at);
    BOOST_TEST(change(article.id, {}).updated_at == article.updated_at);

    ArticleChange wanted;
    wanted.slug = "old-news";
    wanted.title = "Old";
    wanted.body_html = "<p>y</p>";
    wanted.excerpt = std::optional<std::string>("e");
    wanted.locale.emplace();
    wanted.tags = {"b", "a"};
    const auto changed = change(article.id, wanted);
    BOOST_TEST(changed.updated_at == now);
    BOOST_TEST(changed.published_at == article.published_at);
    check_tags(2);
    const auto found = service::find_published_article(context, acme, "old-news");
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->title == "Old");
    BOOST_TEST(found->body_html == "<p>y</p>");
    BOOST_TEST(found->excerpt == "e");
    BOOST_TEST(!found->locale.has_value());
    BOOST_TEST(found->tags.text == R"(["b","a"])");
    BOOST_TEST(!service::find_published_article(context, acme, "news"));
    ArticleChange none;
    none.tags.emplace();
    BOOST_TEST(change(article.id, none).tags.text == "[]");
    check_tags(0);
}

BOOST_AUTO_TEST_CASE(a_slug_is_unique_in_an_organization) {
    const auto article = create("news");
    const auto other = create("other");
    ArticleChange change_slug;
    change_slug.slug = "news";
    BOOST_TEST(code_of([&] { create("news"); }) == ErrorCode::Conflict);
    BOOST_TEST(code_of([&] { change(other.id, change_slug); }) == ErrorCode::Conflict);
    remove(article.id);
    BOOST_TEST(change(other.id, change_slug).slug == "news");
    acme = organization("Elsewhere");
    create("news");
}

BOOST_AUTO_TEST_CASE(an_unknown_article_is_not_found) {
    const ArticleId unknown = ArticleId::create();
    BOOST_TEST(code_of([&] { change(unknown, {}); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { publish(unknown); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { unpublish(unknown); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { remove(unknown); }) == ErrorCode::NotFound);
    for (const std::string_view slug : {"", "-", "News", "n%", "n/n"}) {
        BOOST_TEST(!service::find_published_article(context, acme, slug));
    }
}

BOOST_AUTO_TEST_CASE(pages_contain_each_published_article_once_with_any_filter) {
    std::mt19937 random(7);
    const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
    const std::vector<std::optional<std::string>> locales = {std::nullopt, "de", "en"};
    const std::vector<std::vector<std::string>> tag_lists = {{}, {"cup"}, {"cup", "a%"}, {"a%"}};
    for (int i = 0; i < 300; ++i) {
        const auto article = create({"n" + std::to_string(i),
                                     one_of(kTitles),
                                     "<p>x</p>",
                                     {},
                                     one_of(locales),
                                     one_of(tag_lists),
                                     {},
                                     {}});
        if (random() % 8 == 0) continue;
        publish(article.id);  // many in the same millisecond
        if (random() % 16 == 0) unpublish(article.id);
        now = now + Milliseconds(random() % 2);
    }
    std::vector<std::optional<std::string>> prefixes(kPrefixes.begin(), kPrefixes.end());
    prefixes.emplace_back();
    for (const auto& prefix : prefixes) {
        for (const auto& tag : {std::optional<std::string>(), std::optional<std::string>("cup"),
                                std::optional<std::string>("a%")}) {
            for (const auto& locale : locales) {
                const ContentFilter filter{prefix, tag, locale};
                BOOST_TEST_CONTEXT(prefix.value_or("-")
                                   << "," << tag.value_or("-") << "," << locale.value_or("-")) {
                    BOOST_TEST(published(filter, 7) == expected(filter),
                               boost::test_tools::per_element());
                    BOOST_TEST(published(filter, 100) == expected(filter),
                               boost::test_tools::per_element());
                }
            }
        }
    }
    BOOST_TEST(!expected({"a%", {}, {}}).empty());
}

BOOST_AUTO_TEST_CASE(the_console_lists_all_articles_or_one_status_newest_first) {
    for (int i = 0; i < 12; ++i) {
        const auto article = create("n" + std::to_string(i));
        if (i % 3 == 0) publish(article.id);
    }
    const auto listed = [&](std::optional<ArticleStatus> status) {
        return walk([&](const std::string& position) {
            return service::list_articles(context, acme, {status, {}}, position, 5);
        });
    };
    const auto ids = [&](const std::string& where) {
        Ids found;
        auto rows = client.query("SELECT id FROM articles WHERE " + where + " ORDER BY id DESC");
        while (rows.next()) found.push_back(rows.id<ArticleId>(1).text());
        return found;
    };
    BOOST_TEST(listed({}) == ids("TRUE"), boost::test_tools::per_element());
    BOOST_TEST(listed(ArticleStatus::Draft) == ids("published_at IS NULL"),
               boost::test_tools::per_element());
    BOOST_TEST(listed(ArticleStatus::Published) == ids("published_at IS NOT NULL"),
               boost::test_tools::per_element());
    BOOST_TEST(service::list_articles(context, acme, {}, "", 1).articles.at(0).body_html.empty());
}

BOOST_AUTO_TEST_CASE(articles_that_are_created_at_the_same_time_are_counted) {
    const auto add = [&](const std::string& slug, int count) {
        client.execute(
            "INSERT INTO articles (organization_id, id, slug, title, body_html, locale, tags, "
            "created_at, updated_at) SELECT ?, UNHEX(LEFT(SHA2(CONCAT(?, seq), 256), 32)), "
            "CONCAT(?, seq), '', '', 'en', '[]', 0, 0 FROM " +
                test::sequence(count),
            acme, slug, slug);
    };
    add("early", static_cast<int>(rules::kMostArticles) - 1);
    const auto code = result_after_count(
        acme, [&] { add("last", 1); },
        [&] {
            return code_of([&] {
                test::DatabaseContext().as(acme, [](service::OrgTransaction& transaction) {
                    return service::create_article(transaction,
                                                   {"more", "Title", "", {}, "en", {}, {}, {}});
                });
            });
        });
    BOOST_TEST(code == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_page_costs_one_statement_and_a_bounded_number_of_rows) {
    // Titles and tags match, and the locale matches no article.
    for (int i = 0; i < 1500; ++i) {
        const ArticleId id = ArticleId::create();
        client.execute(
            "INSERT INTO articles (organization_id, id, slug, title, body_html, locale, tags, "
            "published_at, created_at, updated_at) VALUES (?, ?, ?, 'Title', '', 'en', "
            "'[\"cup\"]', ?, ?, ?)",
            acme, id, "s" + std::to_string(i), now, now, now);
        client.execute(
            "INSERT INTO article_tags (organization_id, article_id, tag, published_at) "
            "VALUES (?, ?, 'cup', ?)",
            acme, id, now);
    }
    for (const ContentFilter& filter :
         {ContentFilter{}, ContentFilter{{}, {}, "en"}, ContentFilter{{}, "cup", {}},
          ContentFilter{{}, "cup", "de"}, ContentFilter{"t", {}, {}},
          ContentFilter{"t", "cup", "de"}}) {
        const int bound = filter.prefix || (filter.tag && filter.locale) ? 1100 : 100;
        std::string position;
        for (int page = 0; page < 60; ++page) {
            const auto rows_before = rows_read();
            db::statistics() = {};
            const auto got = service::list_published_articles(context, acme, filter,
                                                              Timestamp::now(), position, 10);
            BOOST_TEST(db::statistics().statements == 1);
            BOOST_TEST(rows_read() - rows_before < bound);
            if (!got.next) break;
            position = *got.next;
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
