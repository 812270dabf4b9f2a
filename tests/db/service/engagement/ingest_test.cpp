// service/engagement/ingest.hpp: a batch is stored completely or not at all, each event once, and
// each new event is sent to its subscribers.
#include "service/engagement/ingest.hpp"
#include "rules/members/fields.hpp"

#include "base/json.hpp"
#include "db/modules.hpp"
#include "rules/webhook_wire.hpp"
#include "service/engagement/tracking.hpp"
#include "service/members/create.hpp"
#include "service/privacy/erasure.hpp"

#include <future>

using namespace muster;
using rules::EventCounts;
using service::PushedEvent;
using test::code_of;
using test::kDay;

namespace {

using Texts = std::vector<std::string>;

struct Ingest : test::ModuleFixture {
    rules::Member member(OrgId organization, const std::string& email,
                         const std::string& external_id = "") {
        rules::MemberFields fields;
        fields.email = email;
        fields.external_id = external_id;
        return as(organization,
                  [&](service::OrgTransaction& transaction) {
                      return service::create_member(transaction, fields);
                  })
            .member;
    }
    PushedEvent event(std::optional<std::string> client_event_id = {}) {
        PushedEvent made;
        made.action = "bought";
        made.user_id = ann_member.user_id;
        made.client_event_id = std::move(client_event_id);
        return made;
    }
    EventCounts push(test::DatabaseContext& worker, const std::vector<PushedEvent>& events) {
        return worker.as(acme, [&](service::OrgTransaction& transaction) {
            return service::ingest_events(transaction, installation, events);
        });
    }
    EventCounts push(const std::vector<PushedEvent>& events) { return push(*this, events); }
    void subscribe(const std::vector<std::string>& types) {
        ModuleFixture::subscribe(installation, types);
    }
    std::int64_t stored() { return client.number("SELECT COUNT(*) FROM engagement_events"); }

    static constexpr const char* kManifest =
        R"({"name":"N","events":{"emits":["shop.sold","shop.returned"]}})";
    InstallationId installation = install(published("shop", kManifest).id).id;
    rules::Member ann_member = member(acme, "ann@x.test", "crm-1");
};

std::map<std::string, std::string> faults_of(const std::function<void()>& call) {
    std::map<std::string, std::string> faults;
    const auto error = test::error_of(call);
    BOOST_TEST_REQUIRE(error.has_value());
    for (const auto& field : error->details()["fields"]) {
        faults[field["path"].asString()] = field["code"].asString();
    }
    return faults;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ingest, Ingest)

BOOST_AUTO_TEST_CASE(an_event_is_linked_to_the_membership_by_any_identifier) {
    std::vector<PushedEvent> events(4, event());
    events[1].user_id.reset();
    events[1].member_id = ann_member.member_id;
    events[2].user_id.reset();
    events[2].member_external_id = "crm-1";
    events[3].user_id.reset();
    events[3].email = "ann@x.test";
    const auto done = push(events);
    BOOST_TEST(done.accepted == 4);
    BOOST_TEST(done.duplicates == 0);
    BOOST_TEST(client.column("SELECT member_id FROM engagement_events") ==
               Texts(4, std::string(ann_member.member_id.bytes())));
}

BOOST_AUTO_TEST_CASE(a_batch_costs_few_statements_at_any_length) {
    const auto statements = [&](std::size_t count) {
        std::vector<PushedEvent> events(count, event());
        for (std::size_t i = 0; i < count; ++i) events[i].client_event_id = Uuid::v7().text();
        db::statistics() = {};
        push(events);
        return db::statistics().statements;
    };
    const auto one = statements(1);
    BOOST_TEST(statements(64) == one);
    BOOST_TEST(statements(100) == one + 1);  // 96 and 4
    BOOST_TEST(statements(95) == one + 2);   // 64, 24 and 7
}

BOOST_AUTO_TEST_CASE(a_batch_with_a_fault_is_not_written) {
    const OrgId other = organization("Other");
    const auto stranger = member(other, "bob@x.test", "theirs");
    member(acme, "c@x.test", "shared");
    member(acme, "d@x.test", "shared");
    std::vector<PushedEvent> events(9, event());
    events[1].user_id.reset();
    events[2].email = "ann@x.test";
    events[3].user_id = stranger.user_id;
    events[4].user_id.reset();
    events[4].member_external_id = "shared";
    events[5].type = "shop.other";
    events[6].occurred_at = Timestamp::now() + kDay + Milliseconds(60'000);
    events[7].metadata = RawJson{'"' + std::string(8191, 'x') + '"'};
    events[8].user_id.reset();
    events[8].email = "bob@x.test";
    BOOST_TEST(
        (faults_of([&] { push(events); }) ==
         std::map<std::string, std::string>{{"events[1]", "required"},
                                            {"events[2]", "invalid_value"},
                                            {"events[3].user_id", "invalid_value"},
                                            {"events[4].member_external_id", "invalid_value"},
                                            {"events[5].type", "invalid_choice"},
                                            {"events[6].occurred_at", "out_of_range"},
                                            {"events[7].metadata", "too_long"},
                                            {"events[8].email", "invalid_value"}}));
    BOOST_TEST(stored() == 0);
}

BOOST_AUTO_TEST_CASE(an_id_counts_once_per_organization_across_and_within_batches) {
    auto done = push({event("a"), event("b"), event("a"), event(), event()});
    BOOST_TEST(done.accepted == 4);
    BOOST_TEST(done.duplicates == 1);
    done = push({event("b"), event("A")});
    BOOST_TEST(done.accepted == 1);
    BOOST_TEST(done.duplicates == 1);
    BOOST_TEST(stored() == 5);
}

BOOST_AUTO_TEST_CASE(two_parallel_batches_with_the_same_id_store_it_once) {
    std::future<EventCounts> second;
    as(acme, [&](service::OrgTransaction& transaction) {
        const auto first =
            service::ingest_events(transaction, installation, {event("x"), event("y")});
        BOOST_TEST(first.accepted == 2);
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return push(worker, {event("x"), event("z")});
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
        return 0;
    });
    const EventCounts late = second.get();
    BOOST_TEST(late.accepted == 1);
    BOOST_TEST(late.duplicates == 1);
    BOOST_TEST(client.column("SELECT ingest_event_id FROM engagement_events ORDER BY 1") ==
               (Texts{"x", "y", "z"}));
}

BOOST_AUTO_TEST_CASE(an_id_that_a_page_or_another_module_used_does_not_suppress_an_event) {
    subscribe({"shop.sold"});
    service::TrackedEvent guessed;
    guessed.action = "guessed";
    guessed.anonymous_id = "v";
    guessed.client_event_id = "order-1";
    const service::TrackedCall page{{acme, {}, {}, "r"}, {guessed}, {}, {}};
    const auto track = [&] {
        return as(acme,
                  [&](service::OrgTransaction& transaction) {
                      return service::track_events(transaction, std::array{&page});
                  })
            .at(0);
    };
    BOOST_TEST(track().accepted == 1);
    const auto other = install(published("other").id).id;
    BOOST_TEST(as(acme, [&](service::OrgTransaction& transaction) {
                   return service::ingest_events(transaction, other, {event("order-1")});
               }).accepted == 1);
    PushedEvent paid = event("order-1");
    paid.type = "shop.sold";
    BOOST_TEST(push({paid}).accepted == 1);
    BOOST_TEST(client.column("SELECT type FROM webhook_events") == Texts{"shop.sold"});
    BOOST_TEST(push({paid}).duplicates == 1);
    BOOST_TEST(track().duplicates == 1);
    BOOST_TEST(stored() == 3);
}

BOOST_AUTO_TEST_CASE(an_event_that_an_older_program_ingested_is_a_duplicate) {
    push({event("a")});
    client.run(
        "UPDATE engagement_events SET client_event_id = ingest_event_id, ingest_event_id = NULL");
    BOOST_TEST(push({event("a"), event("b")}).duplicates == 1);
    BOOST_TEST(stored() == 2);
}

BOOST_AUTO_TEST_CASE(each_new_event_is_emitted_also_under_its_own_type) {
    subscribe({"engagement.recorded", "shop.sold"});
    std::vector<PushedEvent> events = {event("a"), event("b"), event("a")};
    events[0].type = "shop.sold";
    events[0].tags = {"x"};
    events[0].metadata = RawJson{R"({"price":1.10})"};
    events[1].type = "shop.returned";  // no endpoint subscribes to it
    push(events);
    BOOST_TEST(client.column("SELECT type FROM webhook_events ORDER BY id") ==
               (Texts{"engagement.recorded", "shop.sold", "engagement.recorded"}));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_outbox") == 3);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE user_id = ?",
                             ann_member.user_id) == 3);
    const auto bodies = client.column("SELECT body FROM webhook_events ORDER BY id");
    BOOST_TEST(bodies[0].find(R"("metadata":{"price":1.10})") != std::string::npos);
    Json::Value recorded;
    Json::Value own;
    BOOST_TEST_REQUIRE(parse_json(bodies[0], recorded));
    BOOST_TEST_REQUIRE(parse_json(bodies[1], own));
    BOOST_TEST(recorded["data"] == own["data"]);
    const Json::Value& data = recorded["data"];
    BOOST_TEST((data.getMemberNames() ==
                Texts{"action", "client_event_id", "geo_country", "geo_region", "id",
                      "member_external_id", "member_id", "metadata", "occurred_at", "received_at",
                      "source", "tags", "type", "user_id"}));
    BOOST_TEST(data["source"].asString() == "signed");
    BOOST_TEST(data["type"].asString() == "shop.sold");
    BOOST_TEST(data["member_external_id"].asString() == "crm-1");
    BOOST_TEST(data["user_id"].asString() == ann_member.user_id.text());
    push({event("a")});  // duplicates: no event is emitted
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 3);
}

BOOST_AUTO_TEST_CASE(an_erasure_waits_for_events_being_written_and_deletes_them) {
    std::future<service::Erasure> erasure;
    as(acme, [&](service::OrgTransaction& transaction) {
        service::ingest_events(transaction, installation, {event(), event()});
        erasure = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return service::erase_person(worker.context, "ann@x.test");
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
        return 0;
    });
    const auto erased = erasure.get();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 1U);
    BOOST_TEST(erased.organizations[0].events == 2);
    BOOST_TEST(stored() == 0);
    BOOST_TEST(code_of([&] { push({event()}); }) == ErrorCode::ValidationError);
}

BOOST_AUTO_TEST_CASE(an_erasure_logs_a_membership_that_ends_after_its_events_were_deleted) {
    subscribe({"engagement.recorded"});
    for (const std::string table : {"engagement_events", "webhook_events"})
        BOOST_TEST_CONTEXT(table) {
            ann_member = member(acme, "ann@x.test");
            push({event()});
            if (table == "webhook_events") client.run("DELETE FROM engagement_events");
            client.run("DELETE FROM audit_log");
            const test::SchemaChange leaving(client,
                                             "CREATE TRIGGER leaving AFTER DELETE ON " + table +
                                                 " FOR EACH ROW DELETE FROM members",
                                             "DROP TRIGGER leaving");
            const auto erased = service::erase_person(context, "ann@x.test", {});
            BOOST_TEST_REQUIRE(erased.organizations.size() == 1U);
            BOOST_TEST(erased.organizations[0].webhooks >= 1);
            BOOST_TEST(!erased.organizations[0].member.has_value());
            BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'user.erased' "
                                     "AND organization_id = ?",
                                     acme) == 1);
        }
}

BOOST_AUTO_TEST_SUITE_END()
