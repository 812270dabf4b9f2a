// service/collecting.hpp: the events of many requests in one transaction, how one of them can
// affect the others, and the bytes that an organization may store in a day (service/quotas.hpp).
#include "service/collecting.hpp"

#include "base/crypto.hpp"
#include "db/modules.hpp"
#include "db/service/collecting.hpp"
#include "rules/engagement/event_record.hpp"
#include "rules/webhook_wire.hpp"
#include "service/members/create.hpp"
#include "service/quotas.hpp"

#include "print.hpp"

#include <array>
#include <chrono>

using namespace muster;
using rules::Quota;
using service::CollectedCall;
using service::OrgTransaction;
using service::Outcome;
using service::PushedCall;
using service::PushedEvent;
using service::StoredReply;
using service::TrackedCall;
using service::TrackedEvent;

namespace {

struct Collectors : test::ModuleFixture {
    Collectors() {
        const service::MemberInput ann_s{user, MemberId::create(), "ann@x.test", {}, "{}"};
        as(acme, [&](service::OrgTransaction& transaction) {
            return service::create_or_attach(transaction.tx, acme, {&ann_s, 1},
                                             service::Expect::NewUsers, transaction.now);
        });
    }

    static StoredReply counted(const rules::EventCounts& counts) {
        return {.status = 202, .body = to_json(rules::kEventCounts, counts)};
    }
    static CollectedCall tracked(OrgId organization, const std::string& client_event_id) {
        TrackedEvent event;
        event.action = "visited";
        event.anonymous_id = "v";
        event.client_event_id = client_event_id;
        return {service::CollectedEvents{TrackedCall{{organization, {}, {}, "r"}, {event}, {}, {}},
                                         counted}};
    }
    CollectedCall pushed(const std::string& key, const std::string& client_event_id) const {
        PushedEvent event;
        event.action = "bought";
        event.user_id = user;
        event.client_event_id = client_event_id;
        const service::IdempotencyClaim claim{sha256(key), sha256(client_event_id), Secret(key)};
        return {service::CollectedEvents{
            PushedCall{{acme, {}, {}, "r"}, claim, installation, {event}}, counted}};
    }
    std::vector<Outcome> collect(const std::vector<CollectedCall>& calls) {
        return collecting.collect(calls);
    }
    std::vector<std::string> ids() {
        return client.column(
            "SELECT COALESCE(ingest_event_id, client_event_id) AS id FROM engagement_events "
            "ORDER BY id");
    }
    // Opens a transaction that is writing an event with this id.
    void begin_writing(OrgId organization, std::string_view client_event_id) {
        client.run("START TRANSACTION");
        client.execute(
            "INSERT INTO engagement_events (organization_id, id, action, tags, client_event_id, "
            "occurred_at, received_at) VALUES (?, ?, 'x', '[]', ?, 1, 1)",
            organization, EventId::create(), client_event_id);
    }

    InstallationId installation = install(published("shop").id).id;
    UserId user = UserId::create();
    test::DatabaseContext collector{test::collector_settings()};
    service::Collector collecting{collector.context};
};

const StoredReply* reply_of(const Outcome& outcome) {
    return std::get_if<StoredReply>(&outcome);
}

std::optional<ErrorCode> error_of(const Outcome& outcome) {
    return test::code_of([&] { std::rethrow_exception(std::get<std::exception_ptr>(outcome)); });
}

using Texts = std::vector<std::string>;

struct LockedCollectors : Collectors {
    // While the client's transaction locks what the pushed calls of acme need, they are left, and a
    // call of another organization is served. Ends the transaction.
    void expect_left_pushes() {
        const OrgId other = organization("Other");
        const auto outcomes = collect({pushed("k1", "a"), pushed("k2", "b"), pushed("k3", "c"),
                                       pushed("k4", "d"), pushed("k5", "e"), tracked(other, "f")});
        client.run("ROLLBACK");
        BOOST_TEST(std::ranges::count_if(outcomes, test::is_left) == 5);
        BOOST_TEST(reply_of(outcomes[5]));
        BOOST_TEST(test::until([&] { return reply_of(collect({pushed("k5", "e")})[0]); }));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(collecting, LockedCollectors)

BOOST_AUTO_TEST_CASE(calls_of_all_kinds_and_organizations_get_their_replies_in_order) {
    const OrgId other = organization("Other");
    const auto outcomes = collect({tracked(acme, "a"), pushed("k", "b"), tracked(other, "c"),
                                   tracked(acme, "a"), tracked(acme, "d")});
    const std::array expected = {
        R"({"accepted":1,"duplicates":0})", R"({"accepted":1,"duplicates":0})",
        R"({"accepted":1,"duplicates":0})", R"({"accepted":0,"duplicates":1})",
        R"({"accepted":1,"duplicates":0})"};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        BOOST_TEST_REQUIRE(reply_of(outcomes[i]));
        BOOST_TEST(reply_of(outcomes[i])->status == 202);
        BOOST_TEST(reply_of(outcomes[i])->body == expected[i]);
    }
    BOOST_TEST(ids() == (Texts{"a", "b", "c", "d"}));
}

BOOST_AUTO_TEST_CASE(a_fault_of_one_call_rolls_back_only_that_call) {
    CollectedCall wrong = pushed("k2", "b");
    std::get<PushedCall>(std::get<service::CollectedEvents>(wrong.call).events).events[0].user_id =
        UserId::create();  // an unknown user
    const auto outcomes = collect({pushed("k1", "a"), wrong, pushed("k3", "c")});
    BOOST_TEST(reply_of(outcomes[0]));
    BOOST_TEST(error_of(outcomes[1]) == ErrorCode::ValidationError);
    BOOST_TEST(reply_of(outcomes[2]));
    BOOST_TEST(ids() == (Texts{"a", "c"}));
    // Its Idempotency-Key remains unused.
    BOOST_TEST(reply_of(collect({pushed("k2", "b")})[0]));
}

BOOST_AUTO_TEST_CASE(an_event_that_the_database_refuses_fails_one_call_only) {
    const test::SchemaChange refusing(
        client,
        "CREATE TRIGGER refusing BEFORE INSERT ON engagement_events FOR EACH ROW "
        "IF NEW.client_event_id = 'bad' THEN SIGNAL SQLSTATE '45000'; END IF",
        "DROP TRIGGER refusing");
    const auto outcomes = collect({tracked(acme, "a"), tracked(acme, "bad"), tracked(acme, "c")});
    BOOST_TEST(reply_of(outcomes[0]));
    BOOST_TEST(!reply_of(outcomes[1]));
    BOOST_TEST(reply_of(outcomes[2]));
    BOOST_TEST(ids() == (Texts{"a", "c"}));
}

BOOST_AUTO_TEST_CASE(an_idempotency_key_sent_twice_in_a_batch_gets_two_replies_and_one_effect) {
    const auto outcomes = collect({pushed("k", "a"), pushed("k", "a"), pushed("k", "other")});
    BOOST_TEST_REQUIRE(reply_of(outcomes[1]));
    BOOST_TEST(!reply_of(outcomes[0])->replayed);
    BOOST_TEST(reply_of(outcomes[1])->replayed);
    BOOST_TEST(reply_of(outcomes[1])->body == reply_of(outcomes[0])->body);
    BOOST_TEST(error_of(outcomes[2]) == ErrorCode::IdempotencyConflict);
    const auto again = collect({pushed("k", "a")});
    BOOST_TEST(reply_of(again[0])->replayed);
    BOOST_TEST(ids() == Texts{"a"});
}

BOOST_AUTO_TEST_CASE(calls_of_an_organization_with_locked_rows_are_left_to_a_later_batch) {
    const OrgId other = organization("Other");
    begin_writing(other, "held");
    const auto outcomes = collect({tracked(other, "held"), tracked(acme, "a")});
    client.run("ROLLBACK");
    BOOST_TEST(test::is_left(outcomes[0]));
    BOOST_TEST(reply_of(outcomes[1]));
    BOOST_TEST(ids() == Texts{"a"});
    BOOST_TEST(test::until([&] { return reply_of(collect({tracked(other, "held")})[0]); }));
}

BOOST_AUTO_TEST_CASE(calls_that_need_a_locked_row_are_left) {
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM members WHERE user_id = ? FOR UPDATE", user);
    expect_left_pushes();
}

BOOST_AUTO_TEST_CASE(calls_with_keys_in_progress_are_left) {
    client.run("START TRANSACTION");
    for (const char* key : {"k1", "k2", "k3", "k4", "k5"}) {
        client.execute(
            "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, "
            "created_at, expires_at) VALUES (?, ?, ?, 202, 'x', 1, 1)",
            acme, sha256(key), sha256("body"));
    }
    expect_left_pushes();
}

BOOST_AUTO_TEST_CASE(a_connection_lost_before_the_commit_is_retried_without_duplicates) {
    collect({tracked(acme, "a")});
    client.kill(collector.database.autocommit(test::session_of));
    const auto outcomes = collect({tracked(acme, "b"), pushed("k", "c")});
    BOOST_TEST(reply_of(outcomes[0]));
    BOOST_TEST(reply_of(outcomes[1]));
    BOOST_TEST(ids() == (Texts{"a", "b", "c"}));
}

BOOST_AUTO_TEST_CASE(collectors_with_the_same_ids_in_opposite_order_store_each_once) {
    constexpr int kRounds = 20;
    test::in_parallel(2, [&](int place) {
        test::DatabaseContext worker(test::collector_settings());
        service::Collector in_worker(worker.context);
        for (int round = 0; round < kRounds; ++round) {
            std::vector<CollectedCall> calls;
            for (int i = 0; i < 10; ++i) {
                const int number = round * 10 + (place == 0 ? i : 9 - i);
                calls.emplace_back(tracked(acme, std::to_string(number)));
            }
            for (const Outcome& outcome : test::collect_patiently(in_worker, calls)) {
                if (!reply_of(outcome)) throw std::runtime_error("a call failed");
            }
        }
    });
    BOOST_TEST(ids().size() == kRounds * 10U);
}

BOOST_AUTO_TEST_SUITE_END()

// ---------------------------------------------------------------------------- bytes of a day

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20U;
// Of a call below, as it is stored.
constexpr std::int64_t kCallBytes = 100 * (350 + 8000);

Settings small_limits() {
    Settings small = test::settings();
    small.limits.tracked_mib = 1;
    small.limits.ingested_mib = 1;
    return small;
}

struct EventBytes : Collectors {
    // 100 events whose texts have 8,000 bytes each.
    template <class Event>
    std::vector<Event> heavy_events(Event event) {
        event.action = "visited";
        std::vector<Event> events(100, event);
        for (auto& one : events) one.client_event_id = std::to_string(10'000 + ++made);
        return events;
    }
    static RawJson text_of_bytes(std::size_t bytes) {
        return {"\"" + std::string(bytes - 2, 'x') + "\""};
    }
    CollectedCall heavy(OrgId organization) {
        TrackedEvent event;
        event.anonymous_id = "v";
        event.metadata = text_of_bytes(8000 - 7 - 5 - 2 - 1);  // action, ids and tags
        return {service::CollectedEvents{
            TrackedCall{{organization, {}, {}, "r"}, heavy_events(event), {}, {}}, counted}};
    }
    CollectedCall heavy(const std::string& key) {
        PushedEvent event;
        event.user_id = user;
        event.metadata = text_of_bytes(8000 - 7 - 5 - 2);
        const service::IdempotencyClaim claim{sha256(key), sha256("body"), Secret(key)};
        return {service::CollectedEvents{
            PushedCall{{acme, {}, {}, "r"}, claim, installation, heavy_events(event)}, counted}};
    }

    // As a worker: writes the batch, then the sums that are large.
    std::vector<Outcome> collect(const std::vector<CollectedCall>& calls) {
        auto outcomes = own_collecting.collect(calls);
        service::write_large_sums(collector.database);
        return outcomes;
    }
    std::int64_t used(Quota quota) {
        return database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            return service::used_today(org, quota, Timestamp::now());
        });
    }
    std::int64_t stored(OrgId organization) {
        return client.number("SELECT COUNT(*) FROM engagement_events WHERE organization_id = ?",
                             organization);
    }
    void use_up(Quota quota) {
        database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            service::add_use(org, quota, kMost, Timestamp::now());
        });
    }
    bool is_full(Quota quota, Timestamp now) {
        return database.transaction([&](db::Tx& tx) {
            const OrgTransaction transaction{tx, {acme}, now};
            return test::code_of([&] { service::reject_full(transaction, quota, small.limits); }) ==
                   ErrorCode::QuotaExceeded;
        });
    }

    std::int64_t made = 0;
    Settings small = small_limits();
    service::Context own{collector.database, small, collector.context.keys};
    service::Collector own_collecting{own};
};

// The error of a call that was refused because of this limit.
Error refusal_of(const Outcome& outcome, Quota quota) {
    const auto reason = std::get<std::exception_ptr>(outcome);
    const auto error = test::error_of([&] { std::rethrow_exception(reason); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(error->details()["quota"].asString() == text_of(quota));
    return *error;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(event_bytes, EventBytes)

BOOST_AUTO_TEST_CASE(tracked_events_beyond_the_bytes_of_a_day_are_refused) {
    BOOST_TEST(reply_of(collect({heavy(acme)})[0]));
    BOOST_TEST(used(Quota::TrackedBytes) == kCallBytes);
    BOOST_TEST(reply_of(collect({heavy(acme)})[0]));  // exceeds the limit by a part of itself
    const OrgId other = organization("Other");
    const auto outcomes = collect({heavy(acme), heavy(other), heavy("k"), heavy(acme)});
    for (const int refused : {0, 3}) {
        const Error error = refusal_of(outcomes[refused], Quota::TrackedBytes);
        BOOST_TEST(error.details()["maximum"].asInt64() == kMost);
        BOOST_TEST(error.details()["used"].asInt64() == 2 * kCallBytes);
        BOOST_TEST(error.retry_after() > 0);
    }
    // Another organization and the organization's modules are not affected.
    BOOST_TEST(reply_of(outcomes[1]));
    BOOST_TEST(reply_of(outcomes[2]));
    BOOST_TEST(stored(acme) == 300);
    BOOST_TEST(stored(other) == 100);
    BOOST_TEST(used(Quota::TrackedBytes) == 2 * kCallBytes);
}

BOOST_AUTO_TEST_CASE(webhook_events_of_tracked_and_ingested_events_count) {
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
        "event_types, status, secret, created_at, updated_at) "
        "VALUES (?, ?, ?, 'https://example.test/', ?, 'active', 's', 1, 1)",
        acme, EndpointId::create(), installation, rules::joined_types({"engagement.recorded"}));
    const auto bytes_of_events = [&] {
        return client.number(
            "SELECT COALESCE(SUM(LENGTH(body)), 0) + 300 * COUNT(*) FROM webhook_events");
    };
    BOOST_TEST(reply_of(collect({heavy(acme)})[0]));
    const std::int64_t of_tracked = bytes_of_events();
    BOOST_TEST(of_tracked > kCallBytes);
    BOOST_TEST(used(Quota::TrackedBytes) == kCallBytes + of_tracked);
    BOOST_TEST(reply_of(collect({heavy("k1")})[0]));
    BOOST_TEST(used(Quota::IngestedBytes) == kCallBytes + bytes_of_events() - of_tracked);
}

BOOST_AUTO_TEST_CASE(ingested_events_beyond_the_bytes_of_a_day_are_refused_but_replayed) {
    BOOST_TEST(reply_of(collect({heavy("k1")})[0]));
    BOOST_TEST(reply_of(collect({heavy("k2")})[0]));
    BOOST_TEST(used(Quota::IngestedBytes) == 2 * kCallBytes);
    const auto outcomes = collect({heavy("k3"), heavy("k1"), heavy(acme)});
    refusal_of(outcomes[0], Quota::IngestedBytes);
    BOOST_TEST_REQUIRE(reply_of(outcomes[1]));
    BOOST_TEST(std::get<StoredReply>(outcomes[1]).replayed);
    BOOST_TEST(reply_of(outcomes[2]));  // of a page
    BOOST_TEST(stored(acme) == 300);
}

BOOST_AUTO_TEST_CASE(a_full_day_ends_at_midnight) {
    for (const Quota quota : {Quota::TrackedBytes, Quota::IngestedBytes}) {
        use_up(quota);
        const Timestamp now = Timestamp::now();
        BOOST_TEST(is_full(quota, now));
        BOOST_TEST(is_full(quota, rules::end_of_quota_day(now) - Milliseconds(1)));
        BOOST_TEST(!is_full(quota, rules::end_of_quota_day(now)));
    }
}

BOOST_AUTO_TEST_CASE(duplicates_do_not_count) {
    const auto call = heavy(acme);
    BOOST_TEST(reply_of(collect({call})[0]));
    BOOST_TEST(std::get<StoredReply>(collect({call})[0]).body ==
               R"({"accepted":0,"duplicates":100})");
    service::write_all_sums(database);
    BOOST_TEST(used(Quota::TrackedBytes) == kCallBytes);
}

BOOST_AUTO_TEST_CASE(small_sums_are_written_together_and_when_the_worker_ends) {
    constexpr std::int64_t kOne = 350 + 7 + 2 + 3 + 1;  // action, tags and the two ids
    for (int i = 0; i < 40; ++i) collect({tracked(acme, std::to_string(100 + i))});
    BOOST_TEST(used(Quota::TrackedBytes) == 0);
    for (int i = 0; i < 10; ++i) collect({tracked(acme, std::to_string(200 + i))});
    const auto written = used(Quota::TrackedBytes);
    BOOST_TEST(written >= kMost / 64);
    BOOST_TEST(written < kMost / 64 + kOne);
    service::write_all_sums(database);
    BOOST_TEST(used(Quota::TrackedBytes) == 50 * kOne);
}

BOOST_AUTO_TEST_CASE(events_of_a_batch_that_was_rolled_back_do_not_count) {
    const OrgId other = organization("Other");
    // The other organization's event waits for this transaction, so the batch is written again.
    begin_writing(other, "held");
    const auto outcomes = collect({tracked(other, "held"), heavy(acme)});
    client.run("ROLLBACK");
    BOOST_TEST(test::is_left(outcomes[0]));
    BOOST_TEST(reply_of(outcomes[1]));
    service::write_all_sums(database);
    BOOST_TEST(used(Quota::TrackedBytes) == kCallBytes);
}

BOOST_AUTO_TEST_CASE(a_sum_that_cannot_be_written_is_written_later) {
    BOOST_TEST(reply_of(collect({tracked(acme, "first")})[0]));
    client.run("START TRANSACTION");
    for (int slot = 0; slot < 8; ++slot) {
        client.execute("INSERT INTO organization_days VALUES (?, ?, 'tracked_bytes', ?, 0)", acme,
                       rules::quota_day_of(Timestamp::now()), slot);
    }
    BOOST_TEST(reply_of(collect({heavy(acme)})[0]));
    client.run("ROLLBACK");
    BOOST_TEST(used(Quota::TrackedBytes) == 0);
    BOOST_TEST(reply_of(collect({tracked(acme, "last")})[0]));
    BOOST_TEST(used(Quota::TrackedBytes) > kCallBytes);
}

BOOST_AUTO_TEST_SUITE_END()
