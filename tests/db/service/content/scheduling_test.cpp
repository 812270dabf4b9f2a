// service/content/articles.hpp: articles that are published at a time in the future, and the
// console's list by title.
#include "rules/audit.hpp"
#include "service/content/articles.hpp"

#include "db/fixture.hpp"
#include "service/access/organizations.hpp"
#include "service/audit.hpp"

#include "print.hpp"

using namespace muster;
using rules::Article;
using rules::ArticleStatus;
using test::code_of;

namespace {

constexpr Milliseconds kMinute{60'000};

struct Scheduling : test::Fixture {
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return work(transaction);
        });
    }
    Article create(std::string slug, std::string title = "Title") {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_article(
                transaction, {std::move(slug), std::move(title), "", {}, "en", {"cup"}, {}, {}});
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
    // Sets the time of publication, as if the time had passed.
    void set_published(ArticleId id, Timestamp at) {
        client.execute("UPDATE articles SET published_at = ? WHERE id = ?", at, id);
        client.execute("UPDATE article_tags SET published_at = ? WHERE article_id = ?", at, id);
    }
    // The slugs that sites see, in every order of the list.
    std::vector<std::string> seen() { return seen(Timestamp::now()); }
    std::vector<std::string> seen(Timestamp now) {
        std::vector<std::string> slugs;
        for (const service::ContentFilter& filter : {service::ContentFilter{},
                                                     {{}, "cup", {}},
                                                     {{}, {}, "en"},
                                                     {{}, "cup", "en"},
                                                     {"t", {}, {}},
                                                     {"t", "cup", "en"}}) {
            const auto page = service::list_published_articles(context, acme, filter, now, "", 100);
            std::string line;
            for (const Article& article : page.articles) line += article.slug + " ";
            slugs.push_back(line);
        }
        return slugs;
    }
    std::vector<std::string> listed(std::optional<ArticleStatus> status,
                                    std::optional<std::string> prefix = {}) {
        std::vector<std::string> slugs;
        std::string position;
        for (;;) {
            auto page = service::list_articles(context, acme, {status, prefix}, position, 2);
            for (const Article& article : page.articles) slugs.push_back(article.slug);
            if (!page.next) return slugs;
            position = *page.next;
        }
    }
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const auto& entry : service::list_audit_log(context, acme, {}, {}, 100).entries) {
            if (entry.action.starts_with("article.")) found.push_back(entry.action);
        }
        return found;
    }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

using Slugs = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(article_scheduling, Scheduling)

BOOST_AUTO_TEST_CASE(a_scheduled_article_is_visible_from_its_time_on_without_a_runner) {
    const auto id = create("news").id;
    const Timestamp at = Timestamp::now() + kMinute;
    const auto scheduled = publish(id, at);
    BOOST_TEST(scheduled.status == ArticleStatus::Scheduled);
    BOOST_TEST(scheduled.published_at == at);
    BOOST_TEST(!service::find_published_article(context, acme, "news"));
    BOOST_TEST(seen() == Slugs(6, ""));
    BOOST_TEST(service::find_article(context, acme, id)->status == ArticleStatus::Scheduled);
    set_published(id, Timestamp::now());
    BOOST_TEST(service::find_published_article(context, acme, "news").has_value());
    BOOST_TEST(seen() == Slugs(6, "news "));
    BOOST_TEST(service::find_article(context, acme, id)->status == ArticleStatus::Published);
    BOOST_TEST(actions() == (Slugs{"article.scheduled", "article.created"}));
}

BOOST_AUTO_TEST_CASE(a_scheduled_article_can_be_moved_published_now_and_made_a_draft) {
    const auto id = create("news").id;
    const Timestamp at = Timestamp::now() + kMinute;
    publish(id, at);
    BOOST_TEST(publish(id, at).updated_at == publish(id, at).updated_at);  // not changed
    BOOST_TEST(publish(id, at + kMinute).published_at == at + kMinute);
    BOOST_TEST(unpublish(id).status == ArticleStatus::Draft);
    publish(id, at);
    BOOST_TEST(publish(id).status == ArticleStatus::Published);
    BOOST_TEST(service::find_published_article(context, acme, "news").has_value());
    BOOST_TEST(code_of([&] { publish(id, at); }) == ErrorCode::InvalidState);
    BOOST_TEST(publish(id).status == ArticleStatus::Published);
}

BOOST_AUTO_TEST_CASE(an_article_is_scheduled_for_a_time_within_a_year) {
    const auto id = create("news").id;
    for (const Milliseconds ahead :
         {-kMinute, Milliseconds(0), rules::kMostPublishAhead + kMinute}) {
        BOOST_TEST(code_of([&] { publish(id, Timestamp::now() + ahead); }) ==
                   ErrorCode::ValidationError);
    }
    publish(id, Timestamp::now() + rules::kMostPublishAhead - kMinute);
}

BOOST_AUTO_TEST_CASE(the_console_lists_scheduled_articles_by_their_time_and_all_by_title) {
    const Timestamp now = Timestamp::now();
    for (const int minutes : {3, 1, 2, 5, 4}) {
        publish(create("s" + std::to_string(minutes), "Soon " + std::to_string(minutes)).id,
                now + minutes * kMinute);
    }
    publish(create("p", "Soon published").id);
    create("d", "Soon a draft");
    create("other", "Other");
    BOOST_TEST(listed(ArticleStatus::Scheduled) == (Slugs{"s1", "s2", "s3", "s4", "s5"}));
    BOOST_TEST(listed(ArticleStatus::Published) == Slugs{"p"});
    BOOST_TEST(listed(ArticleStatus::Draft) == (Slugs{"other", "d"}));
    BOOST_TEST(listed({}, "SOON") == (Slugs{"s1", "s2", "s3", "s4", "s5", "d", "p"}));
    BOOST_TEST(listed(ArticleStatus::Scheduled, "soon") == (Slugs{"s1", "s2", "s3", "s4", "s5"}));
    BOOST_TEST(listed(ArticleStatus::Published, "soon") == Slugs{"p"});
    BOOST_TEST(listed(ArticleStatus::Draft, "soon") == Slugs{"d"});
    BOOST_TEST(listed({}, "final") == Slugs{});
}

BOOST_AUTO_TEST_CASE(a_list_is_cached_until_the_next_publication_at_most) {
    constexpr std::chrono::seconds kMost{60};
    const auto cached = [&] {
        return service::cache_time_of_articles(context, acme, Timestamp::now(), kMost);
    };
    BOOST_TEST(cached().count() == 60);
    const auto id = create("news").id;
    publish(id, Timestamp::now() + 2 * kMinute);
    BOOST_TEST(cached().count() == 60);
    publish(create("soon").id, Timestamp::now() + Milliseconds(20'500));
    BOOST_TEST(cached().count() <= 20);
    BOOST_TEST(cached().count() >= 15);
}

BOOST_AUTO_TEST_CASE(a_list_that_was_read_before_a_publication_is_not_cached_after_it) {
    constexpr std::chrono::seconds kMost{60};
    const Timestamp at = Timestamp::now() + kMinute;
    publish(create("soon").id, at);
    const Timestamp before = at - Milliseconds(1);
    const auto cached = [&](Timestamp now) {
        return service::cache_time_of_articles(context, acme, now, kMost).count();
    };
    BOOST_TEST(seen(before) == std::vector<std::string>(6));
    BOOST_TEST(cached(before) == 0);
    BOOST_TEST(seen(at).front() == "soon ");
    BOOST_TEST(cached(at) == 60);
}

BOOST_AUTO_TEST_SUITE_END()
