// api/pipeline.hpp: the short reads of a batch share their queries, and each request gets the reply
// that it would get alone. So do pages of events (api/event_pages.hpp).
#include "db/api/pipeline_fixture.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "db/members.hpp"
#include "rules/access/roles.hpp"
#include "rules/ads/token.hpp"
#include "service/access/sessions.hpp"
#include "service/access/team.hpp"
#include "service/ads/serving_cache.hpp"
#include "service/members/create.hpp"
#include "service/pages/publishable_keys.hpp"
#include "store/access/admins.hpp"
#include "unit/base/logged.hpp"

#include "print.hpp"

using namespace muster;
using http::Reply;
using http::Request;

namespace {

struct Reading : test::PipelineFixture {
    UserId join(OrgId organization, const std::string& email) {
        test::Batch batch;
        batch.add(email);
        return database.transaction([&](db::Tx& tx) {
            return service::create_or_attach(tx, organization, batch.inputs(),
                                             service::Expect::NewUsers, Timestamp::now())
                .front()
                .user_id;
        });
    }
    static Request get(const std::string& path, const service::IssuedKey& key) {
        return request(http::Method::Get, path, key);
    }
    static Request get_user(UserId user, const service::IssuedKey& key) {
        return get("/v1/users/" + user.text(), key);
    }

    // The replies in the order of the requests, which fit into one batch.
    std::vector<Reply> answers(const std::vector<Request>& requests) {
        std::vector<Reply> replies(requests.size());
        sent.clear();
        const auto deferred =
            pipeline.handle(requests, [&](std::size_t index, std::optional<Reply> reply) {
                replies.at(index) = std::move(reply.value());
                sent.push_back(index);
            });
        BOOST_TEST(deferred.empty());
        return replies;
    }
    // The number of statements of a batch, after the batch has run once: the first use of a key
    // also writes `last_used_at`.
    int statements_of(const std::vector<Request>& requests) {
        answers(requests);
        db::statistics() = {};
        answers(requests);
        return db::statistics().statements;
    }

    std::vector<std::size_t> sent;  // the indexes in the order of the replies

    OrgId umbrella = organization("Umbrella");
    service::IssuedKey ours = issue(acme);
    service::IssuedKey theirs = issue(umbrella);
    UserId ann = join(acme, "ann@x.test");
    UserId bob = join(acme, "bob@x.test");
    UserId cat = join(umbrella, "cat@x.test");
};

// A worker that has no permit to give, so that each request waits or is refused.
struct Busy : Reading {
    static void is_refused(std::size_t, const std::optional<Reply>& reply) {
        BOOST_TEST(reply->status == 429);
    }

    process::OrganizationShares permits;
    api::Pipeline busy{worker,
                       metrics,
                       limiter,
                       concurrency,
                       {.permits = &permits, .most_of_batch = 64, .limit = {0, 0}}};
};

struct EventReading : Reading {
    EventReading() {
        put_events(acme, ann, 5);
        put_events(acme, bob, 3);
        put_events(umbrella, cat, 2);
    }
    void put_events(OrgId organization, UserId user, int count) {
        for (int i = 0; i < count; ++i) {
            client.execute(
                "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, "
                "occurred_at, received_at) SELECT organization_id, ?, id, 'visited', '[]', "
                "?, ? FROM members WHERE organization_id = ? AND user_id = ?",
                EventId::create(), kWhen + Milliseconds(i % 2), kWhen, organization, user);
        }
    }
    static Request page(UserId user, const service::IssuedKey& key, const std::string& query = "") {
        Request made = get("/v1/users/" + user.text() + "/engagement/events", key);
        made.query = query;
        return made;
    }
    static std::size_t size_of(const http::Reply& reply) {
        Json::Value body;
        BOOST_TEST_REQUIRE(parse_json(reply.body, body), reply.body);
        return body["events"].size();
    }

    const Timestamp kWhen{1'790'000'000'000};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reading, Reading)

BOOST_AUTO_TEST_CASE(a_batch_has_one_query_for_keys_and_one_per_organization_for_members) {
    BOOST_TEST(statements_of({get_user(ann, ours)}) == 2);
    BOOST_TEST(statements_of({get_user(ann, ours), get_user(bob, ours), get_user(ann, ours)}) == 2);
    BOOST_TEST(statements_of({get_user(ann, ours), get_user(cat, theirs), get_user(bob, ours)}) ==
               3);
    const std::vector<Request> many(64, get_user(ann, ours));
    BOOST_TEST(statements_of(many) == 2);
}

BOOST_AUTO_TEST_CASE(an_admin_above_the_rate_causes_no_look_up_of_the_named_organization) {
    for (const OrgId organization : {acme, umbrella})
        service::add_admin(context, organization, "ada@x.test", "owner");
    const auto opened = database.transaction([&](db::Tx& tx) {
        return service::open_session(tx, store::find_admin(tx, "ada@x.test").value(), acme,
                                     rules::Role::Owner, {}, Timestamp::now());
    });
    client.execute("UPDATE sessions SET verified_at = ?", Timestamp::now());
    Request named = get_user(cat, ours);
    named.authorization = "Bearer " + opened.token.reveal();
    named.organization = umbrella.text();
    BOOST_TEST(statements_of({named}) == 3);
    BOOST_TEST(answers({named}).front().status == 200);
    settings.limits.key_rate = settings.limits.key_burst = 1;
    const std::vector<Request> many(16, named);
    BOOST_TEST(statements_of(many) <= 3);  // at most one of them is accepted
    BOOST_TEST(answers(many).back().status == 429);
}

BOOST_AUTO_TEST_CASE(the_other_reader_is_let_in_before_a_part_that_needs_a_permit) {
    constexpr std::size_t kThreePages = std::size_t{12} << 10U;
    process::OrganizationShares permits;
    int times = 0;
    api::Pipeline sharing{
        worker,
        metrics,
        limiter,
        concurrency,
        {.permits = &permits, .light = kThreePages, .most_of_batch = kMostOfBatch},
        [&] { ++times; }};
    const Request page = get("/v1/users/" + ann.text() + "/engagement/events", ours);
    const auto ignore = [](std::size_t, const std::optional<Reply>&) {};
    sharing.handle(std::vector<Request>(2, page), ignore);
    BOOST_TEST(times == 0);
    sharing.handle(std::vector<Request>(3, page), ignore);
    BOOST_TEST(times == 1);
}

BOOST_AUTO_TEST_CASE(large_members_of_one_organization_wait_for_the_replies_to_others) {
    constexpr std::size_t kLight = std::size_t{64} << 10U;
    process::OrganizationShares permits;
    api::Pipeline sharing{
        worker,
        metrics,
        limiter,
        concurrency,
        {.permits = &permits, .light = kLight, .most_of_batch = kMostOfBatch, .limit = {1, 1}}};
    const std::string document = R"({"notes":[")" + std::string(800'000, 'x') + R"(","api",1]})";
    client.execute("UPDATE members SET attributes = ? WHERE organization_id = ?", document, acme);
    const std::vector<Request> batch = {get_user(ann, ours), get_user(bob, ours),
                                        get_user(cat, theirs)};
    const auto order_of = [&] {
        std::vector<std::size_t> order;
        const auto deferred =
            sharing.handle(batch, [&](std::size_t index, const std::optional<Reply>& reply) {
                BOOST_TEST(reply->status == 200);
                order.push_back(index);
            });
        for (const auto& one : deferred) order.push_back(100 + one.index);
        return order;
    };
    using Order = std::vector<std::size_t>;
    BOOST_TEST(order_of() == Order({0, 1, 2}));    // nothing is known about the organization
    BOOST_TEST(order_of() == Order({2, 0, 101}));  // one large member in a batch, and last
    const auto ignore = [](std::size_t, const std::optional<Reply>&) {};
    // An empty page of events loads the member too.
    const Request page = get("/v1/users/" + ann.text() + "/engagement/events", ours);
    BOOST_TEST(sharing.handle(std::vector<Request>(2, page), ignore).empty());
    BOOST_TEST(sharing.handle(std::vector<Request>(2, page), ignore).size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(organizations_that_wait_leave_places_to_another, Busy) {
    const std::vector<Request> first(64, get_user(ann, ours));
    const auto deferred = busy.handle(first, is_refused);
    std::vector<std::size_t> waiting = {deferred.size()};
    std::vector<std::vector<http::Deferral>> others;
    for (int i = 0; i < 5; ++i) {
        const OrgId id = organization("Busy " + std::to_string(i));
        const std::vector<Request> more(64, get_user(UserId::create(), issue(id)));
        waiting.push_back(others.emplace_back(busy.handle(more, is_refused)).size());
    }
    BOOST_TEST(waiting == std::vector<std::size_t>({64, 43, 29, 19, 13, 8}));
    std::vector<Request> again = first;
    for (const http::Deferral& one : deferred) again.at(one.index).deferral = one;
    BOOST_TEST(busy.handle(again, is_refused).size() == 64U);  // they keep their places
}

BOOST_FIXTURE_TEST_CASE(a_request_that_waits_again_takes_no_second_place, Busy) {
    std::vector<Request> batch(60, get_user(ann, ours));
    for (http::Deferral& one : busy.handle(batch, is_refused)) {
        batch.at(one.index).deferral = std::move(one);
    }
    batch.resize(64, get_user(bob, ours));
    BOOST_TEST(busy.handle(batch, is_refused).size() == 64U);
}

BOOST_FIXTURE_TEST_CASE(reads_that_wait_have_no_effect_but_changes_and_links_of_ads_have, Busy) {
    const auto has_effect = [&](const Request& one) {
        const auto deferred = busy.handle(std::vector<Request>{one}, is_refused);
        BOOST_TEST_REQUIRE(deferred.size() == 1U);
        return deferred.front().has_effect;
    };
    BOOST_TEST(!has_effect(get_user(ann, ours)));
    Request head = get_user(ann, ours);
    head.method = http::Method::Head;
    BOOST_TEST(!has_effect(head));
    BOOST_TEST(has_effect(request(http::Method::Delete, "/v1/users/" + ann.text(), ours)));
    rules::AdToken shown;
    shown.organization = acme;
    const service::AdServingCache ads(worker.keys);
    BOOST_TEST(has_effect(
        get("/v1/ads/impressions/" + rules::encode_ad_token(ads.keys().front(), shown), ours)));
}

BOOST_FIXTURE_TEST_CASE(a_batch_that_ends_by_an_exception_leaves_no_place_taken, Busy) {
    auto deferred = busy.handle(std::vector<Request>{get_user(ann, ours)}, is_refused);
    BOOST_TEST_REQUIRE(deferred.size() == 1U);
    // A request that waited and a new one are lost with each of these batches.
    std::vector<Request> batch = {get_user(ann, ours), get_user(bob, ours), get("/healthz", ours)};
    batch.front().deferral = std::move(deferred.front());
    const auto fails = [](std::size_t, const std::optional<Reply>&) { throw std::bad_alloc(); };
    for (int i = 0; i < 200; ++i) BOOST_CHECK_THROW(busy.handle(batch, fails), std::bad_alloc);
    BOOST_TEST(busy.is_tainted());
    batch.clear();
    const std::vector<Request> next(64, get_user(ann, ours));
    BOOST_TEST(busy.handle(next, is_refused).size() == 64U);
}

BOOST_AUTO_TEST_CASE(each_request_of_a_batch_gets_the_reply_that_it_gets_alone) {
    const std::vector<Request> batch = {
        get_user(ann, ours),
        get_user(cat, theirs),
        get_user(cat, ours),               // another tenant's
        get_user(UserId::create(), ours),  // of no organization
        get("/v1/users/x", ours),          // not an id
        get("/v1/users/" + bob.text() + "/attributes", ours),
        get("/v1/users/" + cat.text() + "/engagement/events", theirs),
        get("/v1/users/" + cat.text() + "/engagement/events", ours),
        get_user(ann, theirs),
    };
    const auto together = answers(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const Reply alone = answers({batch[i]}).at(0);
        BOOST_TEST(together[i].status == alone.status, i);
        BOOST_TEST(together[i].body == alone.body, i);
    }
    BOOST_TEST(together[0].body.find("ann@x.test") != std::string::npos);
    BOOST_TEST(together[1].body.find("cat@x.test") != std::string::npos);
    for (const std::size_t missing : {2, 3, 4, 7, 8}) {
        BOOST_TEST(together[missing].status == 404, missing);
        BOOST_TEST(together[missing].body == together[2].body, missing);
    }
}

BOOST_AUTO_TEST_CASE(each_log_line_of_a_batch_names_its_organization_and_caller) {
    std::vector<Request> batch = {get_user(ann, ours), get_user(cat, theirs), get_user(cat, ours),
                                  get_user(ann, ours), get_user(ann, ours)};
    batch[3].authorization = "Bearer org_unknown";
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i].request_id = "r" + std::to_string(i);
    set_log_level(LogLevel::Info);
    const std::string log = test::logged([&] { answers(batch); });
    set_log_level(LogLevel::Error);
    const auto named = [](std::string_view id, OrgId organization, const service::IssuedKey& key) {
        return "event=request request_id=" + std::string(id) + " org=" + organization.text() +
               " caller=key:" + key.key.id.text() + " ";
    };
    for (const std::string& line :
         {named("r0", acme, ours), named("r1", umbrella, theirs), named("r2", acme, ours),
          std::string("event=request request_id=r3 org=none caller=none "),
          named("r4", acme, ours)}) {
        BOOST_TEST(log.find(line) != std::string::npos, line << " is not in " << log);
    }
}

BOOST_AUTO_TEST_CASE(a_reply_does_not_wait_for_a_page_of_events) {
    const std::string events = "/v1/users/" + ann.text() + "/engagement/events";
    answers({get(events, ours), get_user(ann, ours), get(events, ours), get_user(bob, ours)});
    BOOST_TEST((sent == std::vector<std::size_t>{1, 3, 0, 2}));
}

BOOST_AUTO_TEST_CASE(the_log_line_of_a_reply_does_not_wait_for_a_page_of_events) {
    const std::string events = "/v1/users/" + ann.text() + "/engagement/events";
    Request counted = get(events, ours);
    counted.query = "total=true";
    set_log_level(LogLevel::Info);
    const auto seen = test::writes([&] {
        answers({get(events, ours), get_user(ann, ours), counted, get_user(bob, ours)});
    });
    set_log_level(LogLevel::Error);
    std::vector<std::ptrdiff_t> lines;
    for (const std::string& text : seen) {
        lines.push_back(std::count(text.begin(), text.end(), '\n'));
    }
    BOOST_TEST((lines == std::vector<std::ptrdiff_t>{2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(a_revoked_key_fails_in_the_next_batch_next_to_valid_ones) {
    const service::IssuedKey other = issue(acme);
    const std::vector<Request> batch = {get_user(ann, other), get_user(bob, ours),
                                        get_user(cat, theirs)};
    BOOST_TEST(answers(batch).at(0).status == 200);
    service::revoke_api_key(context, acme, other.key.id);
    const auto replies = answers(batch);
    BOOST_TEST(replies[0].status == 401);
    BOOST_TEST(replies[1].status == 200);
    BOOST_TEST(replies[2].status == 200);
}

BOOST_AUTO_TEST_CASE(a_locked_key_delays_no_request) {
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM api_keys WHERE organization_id = ? AND id = ? FOR UPDATE", acme,
                 ours.key.id);
    client.query("SELECT 1 FROM members WHERE organization_id = ? AND user_id = ? FOR UPDATE", acme,
                 ann);
    db::statistics() = {};
    const auto replies = answers({get_user(ann, ours), get_user(cat, theirs)});
    const auto waited = db::statistics().microseconds;
    client.run("ROLLBACK");
    BOOST_TEST(replies[0].status == 200);
    BOOST_TEST(replies[1].status == 200);
    BOOST_TEST(waited < 1'000'000);  // the lock timeout
    BOOST_TEST(client.value("SELECT last_used_at FROM api_keys WHERE id = ?", ours.key.id) ==
               "NULL");
    BOOST_TEST(client.value("SELECT last_used_at FROM api_keys WHERE id = ?", theirs.key.id) !=
               "NULL");
}

BOOST_AUTO_TEST_CASE(a_damaged_credential_fails_only_its_own_requests) {
    const auto page =
        service::issue_publishable_key(context, acme, rules::PublishableKeyKind::Content,
                                       {"page", {"https://site.example"}, {}, {}, {}});
    client.run("SET SESSION sql_mode = ''");  // stores a wrong value of an enum as an empty text
    client.execute("UPDATE publishable_keys SET kind = 'wrong' WHERE id = ?", page.id);
    Request damaged = get("/v1/content/articles", ours);
    damaged.authorization.clear();
    damaged.query = "key=" + page.token;
    damaged.origin = "https://site.example";
    const auto replies = answers({get_user(ann, ours), damaged, get_user(cat, theirs)});
    BOOST_TEST(replies[0].status == 200);
    BOOST_TEST(replies[1].status == 500);
    BOOST_TEST(replies[2].status == 200);
}

BOOST_AUTO_TEST_CASE(a_last_use_that_cannot_be_written_fails_no_request) {
    client.run(
        "CREATE TRIGGER refuse_touch BEFORE UPDATE ON api_keys FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'");
    const auto replies = answers({get_user(ann, ours), get_user(cat, theirs)});
    client.run("DROP TRIGGER refuse_touch");
    BOOST_TEST(replies[0].status == 200);
    BOOST_TEST(replies[1].status == 200);
    BOOST_TEST(!pipeline.is_tainted());
    BOOST_TEST(client.value("SELECT last_used_at FROM api_keys WHERE id = ?", ours.key.id) ==
               "NULL");
}

BOOST_AUTO_TEST_CASE(exports_of_one_organization_leave_a_permit_to_others) {
    settings.server.workers = 8;  // two of them may wait
    const auto held = concurrency.try_acquire(2, "long answer " + acme.text());
    BOOST_TEST_REQUIRE(held.has_value());
    const auto replies = answers({get("/v1/users/export", ours), get("/v1/users/export", theirs)});
    BOOST_TEST(replies[0].status == 429);
    BOOST_TEST(replies[1].status == 200);
}

// ---------------------------------------------------------------------------- pages of events

BOOST_FIXTURE_TEST_CASE(first_pages_of_an_organization_are_one_query, EventReading) {
    BOOST_TEST(statements_of({page(ann, ours)}) == 3);
    BOOST_TEST(statements_of({page(ann, ours), page(bob, ours), page(ann, ours)}) == 3);
    // The other organization has a query for its members and one for their events.
    BOOST_TEST(statements_of({page(ann, ours), page(cat, theirs), page(bob, ours)}) == 5);
}

BOOST_FIXTURE_TEST_CASE(other_pages_and_totals_have_queries_of_their_own, EventReading) {
    const auto first = answers({page(ann, ours, "limit=2")}).front();
    Json::Value body;
    BOOST_TEST_REQUIRE(parse_json(first.body, body));
    const std::string next = "limit=2&cursor=" + body["next_cursor"].asString();
    BOOST_TEST(statements_of({page(ann, ours), page(ann, ours, next)}) == 4);
    BOOST_TEST(statements_of({page(ann, ours), page(bob, ours, "total=true")}) == 5);
}

BOOST_FIXTURE_TEST_CASE(each_request_gets_the_page_that_it_gets_alone, EventReading) {
    const std::vector<Request> batch = {
        page(ann, ours),
        page(bob, ours, "limit=2"),
        page(cat, theirs),
        page(ann, ours),  // shares the page
        page(ann, ours, "limit=3"),
        page(cat, ours),  // another tenant's
        page(bob, ours, "limit=0"),
        page(bob, ours, "cursor=x"),
        page(ann, theirs),
        page(bob, ours, "limit=3"),
    };
    const auto together = answers(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const http::Reply alone = answers({batch[i]}).front();
        BOOST_TEST(together[i].status == alone.status, i);
        if (together[i].body.find("next_cursor\":\"") == std::string::npos) {
            BOOST_TEST(together[i].body == alone.body, i);
        } else {
            BOOST_TEST(size_of(together[i]) == size_of(alone), i);
        }
    }
    BOOST_TEST(size_of(together[0]) == 5U);
    BOOST_TEST(size_of(together[1]) == 2U);
    BOOST_TEST(size_of(together[2]) == 2U);
    BOOST_TEST(size_of(together[4]) == 3U);
    BOOST_TEST(together[5].status == 404);
    BOOST_TEST(together[6].status == 422);
    BOOST_TEST(together[7].status == 422);
}

BOOST_FIXTURE_TEST_CASE(a_query_reads_a_bounded_number_of_rows, EventReading) {
    std::vector<Request> batch;
    for (int i = 0; i < 9; ++i) {
        batch.push_back(page(join(acme, std::to_string(i) + "@x.test"), ours, "limit=50"));
    }
    BOOST_TEST(statements_of(batch) == 4);  // eight pages, and the ninth
    for (Request& one : batch) one.query = "limit=100";
    BOOST_TEST(statements_of(batch) == 5);  // four, four and one
}

BOOST_FIXTURE_TEST_CASE(large_pages_are_read_alone, EventReading) {
    const std::string metadata = "\"" + std::string(20'000, 'x') + "\"";
    client.execute("UPDATE engagement_events SET metadata = ?", metadata);
    const std::vector<Request> batch = {page(ann, ours), page(bob, ours)};
    BOOST_TEST(statements_of(batch) == 4);
}

BOOST_FIXTURE_TEST_CASE(a_damaged_event_fails_only_the_requests_that_read_it, EventReading) {
    client.execute(
        "UPDATE engagement_events SET tags = 'x' WHERE member_id = "
        "(SELECT id FROM members WHERE organization_id = ? AND user_id = ?)",
        acme, bob);
    const auto replies = answers({page(ann, ours), page(bob, ours), page(ann, ours)});
    BOOST_TEST(replies[0].status == 200);
    BOOST_TEST(replies[1].status == 500);
    BOOST_TEST(replies[2].status == 200);
}

BOOST_AUTO_TEST_SUITE_END()
