// service/engagement/tracking.hpp: the stored rows of tracked page events.
#include "service/engagement/tracking.hpp"
#include "rules/members/fields.hpp"

#include "db/modules.hpp"
#include "service/members/create.hpp"
#include "service/privacy/erasure.hpp"

#include "print.hpp"

#include <future>
#include <map>

using namespace muster;
using rules::EventCounts;
using service::TrackedCall;
using service::TrackedEvent;
using test::kDay;

namespace {

using Texts = std::vector<std::string>;

struct Pages : test::ModuleFixture {
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
    static TrackedEvent visit(std::optional<std::string> client_event_id = {}) {
        TrackedEvent event;
        event.action = "visited";
        event.anonymous_id = "v-1";
        event.client_event_id = std::move(client_event_id);
        return event;
    }
    template <class Reference, class Value>
    static TrackedEvent of(Reference reference, const Value& value) {
        TrackedEvent event = visit();
        event.anonymous_id.reset();
        event.*reference = value;
        return event;
    }
    std::vector<EventCounts> track(test::DatabaseContext& worker,
                                   const std::vector<TrackedCall>& calls) {
        std::vector<const TrackedCall*> named;
        for (const TrackedCall& call : calls) named.push_back(&call);
        return worker.as(acme, [&](service::OrgTransaction& transaction) {
            return service::track_events(transaction, named);
        });
    }
    EventCounts track(const std::vector<TrackedEvent>& events) {
        return track(*this, {call(events)}).at(0);
    }
    TrackedCall call(const std::vector<TrackedEvent>& events) {
        return {{acme, {}, {}, "r"}, events, {}, {}};
    }
    Texts links() { return client.column("SELECT member_id FROM engagement_events ORDER BY id"); }
    std::int64_t stored() { return client.number("SELECT COUNT(*) FROM engagement_events"); }
};

std::map<std::string, std::string> faults_of(const TrackedCall& call, bool is_batch) {
    Faults found;
    service::check_tracked(call.events, is_batch, Timestamp::now(), found);
    std::map<std::string, std::string> faults;
    for (const Fault& fault : found.list()) faults[fault.path] = field_code_text(fault.code);
    return faults;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tracking, Pages)

BOOST_AUTO_TEST_CASE(an_event_is_linked_to_the_membership_by_any_identifier) {
    const auto ann_member = member(acme, "ann@x.test", "crm-1");
    const auto done = track({of(&TrackedEvent::user_id, ann_member.user_id),
                             of(&TrackedEvent::member_id, ann_member.member_id),
                             of(&TrackedEvent::member_external_id, "crm-1")});
    BOOST_TEST(done.accepted == 3);
    BOOST_TEST(links() == Texts(3, std::string(ann_member.member_id.bytes())));
}

BOOST_AUTO_TEST_CASE(an_unknown_person_is_stored_without_a_link) {
    const OrgId other = organization("Other");
    const auto his = member(other, "his@x.test", "crm-9");
    member(acme, "one@x.test", "shared");
    member(acme, "two@x.test", "shared");
    const auto done =
        track({of(&TrackedEvent::user_id, UserId::create()),
               of(&TrackedEvent::user_id, his.user_id), of(&TrackedEvent::member_id, his.member_id),
               of(&TrackedEvent::member_external_id, "crm-9"),
               of(&TrackedEvent::member_external_id, "shared"), visit()});
    BOOST_TEST(done.accepted == 6);
    BOOST_TEST(links() == Texts(6, "NULL"));
    BOOST_TEST(client.column("SELECT DISTINCT organization_id FROM engagement_events") ==
               Texts{std::string(acme.bytes())});
}

BOOST_AUTO_TEST_CASE(every_field_is_stored) {
    TrackedCall sent = call({visit("id-1")});
    TrackedEvent& event = sent.events[0];
    event.tags = {"a", "b"};
    event.metadata = RawJson{R"({"price":1.50})"};
    event.occurred_at = Timestamp::now() - kDay;
    sent.geo_country = "AT";
    sent.geo_region = "Tyrol";
    track(*this, {sent});
    auto rows = client.query(
        "SELECT action, tags, metadata, client_event_id, occurred_at, geo_country, geo_region, "
        "anonymous_id, installation_id, type FROM engagement_events");
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.bytes(1) == "visited");
    BOOST_TEST(rows.bytes(2) == R"(["a","b"])");
    BOOST_TEST(rows.bytes(3) == R"({"price":1.50})");
    BOOST_TEST(rows.bytes(4) == "id-1");
    BOOST_TEST(rows.timestamp(5).milliseconds() == event.occurred_at->milliseconds());
    BOOST_TEST(rows.bytes(6) == "AT");
    BOOST_TEST(rows.bytes(7) == "Tyrol");
    BOOST_TEST(rows.bytes(8) == "v-1");
    BOOST_TEST(rows.is_null(9));
    BOOST_TEST(rows.is_null(10));
}

BOOST_AUTO_TEST_CASE(a_client_event_id_is_stored_once_in_a_call_a_batch_and_later) {
    const auto counts = track(*this, {call({visit("a"), visit("a"), visit("b")}),
                                      call({visit("b"), visit("c")}), call({visit()})});
    BOOST_TEST(counts.at(0).accepted == 2);
    BOOST_TEST(counts.at(0).duplicates == 1);
    BOOST_TEST(counts.at(1).accepted == 1);
    BOOST_TEST(counts.at(1).duplicates == 1);
    BOOST_TEST(counts.at(2).accepted == 1);
    BOOST_TEST(track({visit("c"), visit("d"), visit()}).duplicates == 1);
    BOOST_TEST(stored() == 6);
}

BOOST_AUTO_TEST_CASE(ids_of_another_organization_are_not_duplicates) {
    const OrgId other = organization("Other");
    track({visit("a")});
    const TrackedCall theirs{{other, {}, {}, "r"}, {visit("a")}, {}, {}};
    const auto counts = as(other, [&](service::OrgTransaction& transaction) {
        return service::track_events(transaction, std::array{&theirs});
    });
    BOOST_TEST(counts.at(0).accepted == 1);
}

BOOST_AUTO_TEST_CASE(two_parallel_calls_with_the_same_id_store_it_once) {
    std::future<EventCounts> second;
    const TrackedCall first_call = call({visit("x"), visit("y")});
    as(acme, [&](service::OrgTransaction& transaction) {
        service::track_events(transaction, std::array{&first_call});
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return track(worker, {call({visit("x"), visit("z")})}).at(0);
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
        return 0;
    });
    const EventCounts late = second.get();
    BOOST_TEST(late.accepted == 1);
    BOOST_TEST(late.duplicates == 1);
    BOOST_TEST(stored() == 3);
}

BOOST_AUTO_TEST_CASE(any_number_of_calls_is_written_by_the_same_few_statements) {
    const auto statements = [&](std::size_t count) {
        std::vector<TrackedCall> calls;
        for (std::size_t i = 0; i < count; ++i) calls.push_back(call({visit(Uuid::v7().text())}));
        db::statistics() = {};
        track(*this, calls);
        return db::statistics().statements;
    };
    const auto one = statements(1);
    BOOST_TEST(statements(64) == one);
}

BOOST_AUTO_TEST_CASE(as_many_events_as_a_full_batch_can_hold_are_written) {
    std::vector<TrackedCall> calls(64, call(std::vector<TrackedEvent>(100, visit())));
    for (const EventCounts& count : track(*this, calls)) BOOST_TEST(count.accepted == 100);
    BOOST_TEST(stored() == 6400);
}

BOOST_AUTO_TEST_CASE(a_locked_member_row_does_not_delay_events) {
    const auto ann_member = member(acme, "ann@x.test");
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM members WHERE user_id = ? FOR UPDATE", ann_member.user_id);
    BOOST_TEST(track({of(&TrackedEvent::user_id, ann_member.user_id)}).accepted == 1);
    client.run("ROLLBACK");
    BOOST_TEST(links().at(0) == std::string(ann_member.member_id.bytes()));
}

BOOST_AUTO_TEST_CASE(each_new_event_is_sent_to_its_subscribers) {
    subscribe(install(published("shop").id).id, {"engagement.recorded"});
    const auto ann_member = member(acme, "ann@x.test");
    track({visit("a"), visit("a"), of(&TrackedEvent::user_id, ann_member.user_id)});
    BOOST_TEST(client.column("SELECT type FROM webhook_events WHERE type <> 'member.created'") ==
               Texts(2, "engagement.recorded"));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE user_id IS NULL") == 1);
    const auto bodies = client.column("SELECT body FROM webhook_events WHERE user_id IS NULL");
    BOOST_TEST(bodies.at(0).find(R"("member_id":null)") != std::string::npos);
    BOOST_TEST(bodies.at(0).find("v-1") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_erasure_deletes_an_event_whose_request_had_found_the_member) {
    subscribe(install(published("shop").id).id, {"engagement.recorded"});
    const auto ann_member = member(acme, "ann@x.test", "crm-1");
    // So many that an erasure reads only the member's events.
    track(std::vector<TrackedEvent>(100, visit()));
    // The request has read the member, and waits for another transaction with its client_event_id.
    client.run("START TRANSACTION");
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, action, tags, client_event_id, "
        "occurred_at, received_at) VALUES (?, ?, 'did', '[]', 'twice', 1, 1)",
        acme, EventId::create());
    auto tracked = std::async(std::launch::async, [&] {
        test::DatabaseContext worker;
        return track(worker,
                     {call({visit("twice"), of(&TrackedEvent::user_id, ann_member.user_id)})});
    });
    test::Client other;
    BOOST_TEST(test::until([&] { return other.has_lock_wait(); }));
    auto erasure = std::async(std::launch::async, [] {
        test::DatabaseContext worker;
        return service::erase_person(worker.context, "ann@x.test", std::chrono::seconds(5));
    });
    BOOST_TEST(test::until([&] { return other.number("SELECT COUNT(*) FROM users") == 0; }));
    client.run("ROLLBACK");
    BOOST_TEST(tracked.get()[0].accepted == 2);
    BOOST_TEST(erasure.get().organizations.at(0).events == 1);
    BOOST_TEST(stored() == 101);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE LOCATE('crm-1', body)") ==
               0);
}

BOOST_AUTO_TEST_CASE(every_fault_of_every_event_is_reported) {
    TrackedEvent unidentified = visit();
    unidentified.anonymous_id.reset();
    TrackedEvent two = visit();
    two.user_id = UserId::create();
    TrackedEvent early = visit();
    early.occurred_at = Timestamp::now() - kDay * 31;
    TrackedEvent late = visit();
    late.occurred_at = Timestamp::now() + kDay * 2;
    TrackedEvent heavy = visit();
    heavy.metadata = RawJson{std::string(8193, '1')};
    const std::map<std::string, std::string> expected = {{"events[1]", "required"},
                                                         {"events[2]", "invalid_value"},
                                                         {"events[3].occurred_at", "out_of_range"},
                                                         {"events[4].occurred_at", "out_of_range"},
                                                         {"events[5].metadata", "too_long"}};
    BOOST_TEST(faults_of(call({visit(), unidentified, two, early, late, heavy}), true) == expected);
    const std::map<std::string, std::string> alone = {{"occurred_at", "out_of_range"}};
    BOOST_TEST(faults_of(call({late}), false) == alone);
    const std::map<std::string, std::string> unnamed = {{"event", "required"}};
    BOOST_TEST(faults_of(call({unidentified}), false) == unnamed);
}

BOOST_AUTO_TEST_CASE(the_limits_of_the_time_window_are_inclusive) {
    const Timestamp now = Timestamp::now();
    TrackedEvent first = visit();
    first.occurred_at = now - kDay * 30;
    TrackedEvent last = visit();
    last.occurred_at = now + kDay;
    Faults faults;
    service::check_tracked(std::array{first, last}, true, now, faults);
    BOOST_TEST(faults.empty());
}

BOOST_AUTO_TEST_SUITE_END()
