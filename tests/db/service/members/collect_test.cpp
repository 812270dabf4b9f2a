// service/collecting.hpp: many requests that create members in one transaction. Each of them has
// the result that it would have alone.
#include "service/collecting.hpp"
#include "service/members/create.hpp"

#include "base/crypto.hpp"
#include "db/modules.hpp"
#include "db/service/collecting.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member_record.hpp"
#include "service/attributes.hpp"
#include "service/webhooks/endpoints.hpp"

#include "print.hpp"

#include <atomic>
#include <chrono>
#include <random>
#include <set>

using namespace muster;
using rules::MemberFields;
using service::CollectedCall;
using service::CollectedMember;
using service::CreatedMember;
using service::Outcome;
using service::StoredReply;

namespace {

using Texts = std::vector<std::string>;

service::IdempotencyClaim claim(const std::string& key, const std::string& body) {
    return {sha256(key), sha256(body), Secret(key)};
}

// One request: who, which address, and optionally a key, a first name and attributes.
struct Creation {
    OrgId organization;
    std::string email;
    std::string key = {};
    std::string first_name = {};
    std::string attributes = {};
    std::optional<AdminId> admin = {};
};

MemberFields fields_of(const Creation& creation) {
    MemberFields fields;
    fields.email = creation.email;
    fields.first_name = creation.first_name;
    fields.attributes = creation.attributes;
    return fields;
}

StoredReply reply_with(const CreatedMember& created) {
    return {.status = created.outcome == rules::MemberOutcome::Merged ? 200 : 201,
            .location = "/v1/users/" + created.member.user_id.text(),
            .body = to_json(rules::kUser, created.member) + std::string(text_of(created.outcome))};
}

CollectedMember call_of(const Creation& creation) {
    std::optional<service::IdempotencyClaim> its_claim;
    if (!creation.key.empty()) {
        its_claim = claim(creation.key,
                          creation.email + '|' + creation.first_name + '|' + creation.attributes);
    }
    return {{creation.organization, creation.admin, {}, "req-" + creation.email},
            its_claim,
            std::make_shared<const MemberFields>(fields_of(creation)),
            reply_with};
}

std::vector<CollectedCall> calls_of(const std::vector<Creation>& creations) {
    std::vector<CollectedCall> calls;
    for (const Creation& creation : creations) calls.push_back({call_of(creation)});
    return calls;
}

const StoredReply* reply_of(const Outcome& outcome) {
    return std::get_if<StoredReply>(&outcome);
}

// The error that the API would return, also for a call that may not wait; nullopt for an error of
// the database.
std::optional<Error> error_of(const Outcome& outcome) {
    try {
        if (const auto* locked = std::get_if<service::RowsLocked>(&outcome)) {
            std::rethrow_exception(locked->reason);
        }
        std::rethrow_exception(std::get<std::exception_ptr>(outcome));
    } catch (const Error& error) {
        return error;
    } catch (const db::DbError&) {
        return std::nullopt;
    }
}

// "201 created", "200 merged replayed", the error's code, "left" and that code, or "other".
std::string summary(const Outcome& outcome) {
    if (const auto* reply = reply_of(outcome)) {
        return std::to_string(reply->status) + " " +
               reply->body.substr(reply->body.rfind('}') + 1) +
               (reply->replayed ? " replayed" : "");
    }
    const auto error = error_of(outcome);
    const std::string code = error ? std::string(error_entry(error->code()).text) : "other";
    return test::is_left(outcome) ? "left " + code : code;
}

Texts summaries(const std::vector<Outcome>& outcomes) {
    Texts texts;
    for (const Outcome& outcome : outcomes) texts.push_back(summary(outcome));
    return texts;
}

struct Creating : test::ModuleFixture {
    std::vector<Outcome> collect(const std::vector<Creation>& creations) {
        return collector.collect(calls_of(creations));
    }
    // In a transaction of the client, and without the gap next to the row.
    void lock_user(std::string_view email) {
        client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
        client.run("START TRANSACTION");
        client.query("SELECT 1 FROM users WHERE email = ? FOR UPDATE", email);
    }
    // The same request outside of a collector.
    Outcome create_alone(const Creation& creation) {
        const CollectedMember call = call_of(creation);
        try {
            return service::transact(
                context, call.actor, call.claim, [&](service::OrgTransaction& transaction) {
                    return call.reply(service::create_member(transaction, *call.fields));
                });
        } catch (const Error&) {
            return std::current_exception();
        }
    }
    std::int64_t users() { return client.number("SELECT COUNT(*) FROM users"); }
    std::int64_t records() { return client.number("SELECT COUNT(*) FROM idempotency_keys"); }

    OrgId other = organization("Other");
    test::DatabaseContext worker{test::collector_settings()};
    service::Collector collector{worker.context};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(collecting_members, Creating)

// ---------------------------------------------------------------------------- results

BOOST_AUTO_TEST_CASE(each_request_of_a_batch_gets_its_reply_in_order) {
    create_alone({other, "known@x.test"});
    create_alone({acme, "member@x.test"});
    const auto outcomes = collect({{acme, "b@x.test", "k1", "Bea"},
                                   {other, "a@x.test", "", "Ann"},
                                   {acme, "known@x.test"},
                                   {acme, "member@x.test", "", "Max"},
                                   {acme, "c@x.test"}});
    BOOST_TEST(summaries(outcomes) ==
               (Texts{"201 created", "201 created", "201 attached", "200 merged", "201 created"}));
    BOOST_TEST(reply_of(outcomes[0])->body.find(R"("first_name":"Bea")") != std::string::npos);
    BOOST_TEST(reply_of(outcomes[3])->body.find(R"("first_name":"Max")") != std::string::npos);
    for (const Outcome& outcome : outcomes) {
        const auto id = UserId::parse(reply_of(outcome)->location.substr(10));
        BOOST_TEST_REQUIRE(id.has_value());
        BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE user_id = ?", *id) >= 1);
    }
    BOOST_TEST(users() == 5);
    BOOST_TEST(records() == 1);
}

BOOST_AUTO_TEST_CASE(an_address_sent_twice_is_created_once_and_then_merged_or_attached) {
    const auto outcomes = collect({{acme, "a@x.test", "", "Ann"},
                                   {acme, "a@x.test"},
                                   {other, "a@x.test"},
                                   {acme, "b@x.test"},
                                   {other, "a@x.test", "", "Anna"}});
    BOOST_TEST(summaries(outcomes) ==
               (Texts{"201 created", "200 merged", "201 attached", "201 created", "200 merged"}));
    BOOST_TEST(users() == 2);
}

BOOST_AUTO_TEST_CASE(a_key_sent_twice_in_a_batch_has_one_effect) {
    const auto outcomes = collect({{acme, "a@x.test", "k"},
                                   {acme, "a@x.test", "k"},
                                   {acme, "b@x.test", "k"},
                                   {other, "c@x.test", "k"},
                                   {acme, "a@x.test", "k"}});
    BOOST_TEST(summaries(outcomes) ==
               (Texts{"201 created", "201 created replayed", "IDEMPOTENCY_CONFLICT", "201 created",
                      "201 created replayed"}));
    BOOST_TEST(reply_of(outcomes[1])->body == reply_of(outcomes[0])->body);
    BOOST_TEST(reply_of(outcomes[1])->location == reply_of(outcomes[0])->location);
    BOOST_TEST(users() == 2);
    BOOST_TEST(records() == 2);
}

BOOST_AUTO_TEST_CASE(known_and_expired_keys_are_distinguished_in_a_batch) {
    const auto first = collect({{acme, "a@x.test", "known"}, {acme, "b@x.test", "expired"}});
    client.execute("UPDATE idempotency_keys SET expires_at = 1 WHERE key_hash = ?",
                   sha256("expired"));
    const auto again = collect(
        {{acme, "a@x.test", "known"}, {acme, "c@x.test", "expired"}, {acme, "x@x.test", "known"}});
    BOOST_TEST(summaries(again) ==
               (Texts{"201 created replayed", "201 created", "IDEMPOTENCY_CONFLICT"}));
    BOOST_TEST(reply_of(again[0])->body == reply_of(first[0])->body);
    BOOST_TEST(records() == 2);
}

BOOST_AUTO_TEST_CASE(attributes_that_the_registry_rejects_fail_one_request_only) {
    service::enable_attribute(context, acme, "phone", true);
    const auto outcomes = collect({{acme, "a@x.test", "k1", "", R"({"phone":"1"})"},
                                   {acme, "b@x.test", "k2", "", R"({"no.such":"1"})"},
                                   {other, "c@x.test", "", "", R"({"phone":"1"})"},
                                   {acme, "d@x.test", "k4"}});
    BOOST_TEST(summaries(outcomes) ==
               (Texts{"201 created", "VALIDATION_ERROR", "VALIDATION_ERROR", "201 created"}));
    BOOST_TEST(users() == 2);
    BOOST_TEST(records() == 2);
    // The rejected request used neither its address nor its key.
    BOOST_TEST(summaries(collect({{acme, "b@x.test", "k2"}, {acme, "e@x.test"}})) ==
               (Texts{"201 created", "201 created"}));
}

BOOST_AUTO_TEST_CASE(a_request_with_the_address_of_a_rejected_one_is_written) {
    const auto outcomes =
        collect({{acme, "a@x.test", "", "", R"({"no.such":"1"})"}, {acme, "a@x.test"}});
    BOOST_TEST(summaries(outcomes) == (Texts{"VALIDATION_ERROR", "201 created"}));
}

BOOST_AUTO_TEST_CASE(each_admin_gets_an_audit_entry_and_keys_get_none) {
    collect({{acme, "a@x.test", "", "", "", ann}, {acme, "b@x.test"}, {acme, "c@x.test"}});
    collect({{acme, "a@x.test", "", "", "", ann}, {acme, "d@x.test", "", "", "", ann}});
    BOOST_TEST(client.column("SELECT CONCAT(action, ' ', request_id) FROM audit_log "
                             "WHERE action LIKE 'user.%' ORDER BY id") ==
               (Texts{"user.created req-a@x.test", "user.merged req-a@x.test",
                      "user.created req-d@x.test"}));
}

BOOST_AUTO_TEST_CASE(only_subscribed_organizations_get_events_and_each_change_is_one) {
    const auto shop = install(published("shop").id).id;
    as_admin([&](service::OrgTransaction& transaction) {
        return service::create_webhook_endpoint(
            transaction, context.keys, shop,
            {"https://example.org/hook", {"member.created", "member.updated"}});
    });
    create_alone({acme, "old@x.test", "", "Ann"});
    client.run("DELETE FROM webhook_events");
    collect({{acme, "a@x.test"},
             {other, "b@x.test"},
             {acme, "old@x.test", "", "Anna"},  // adds no value
             {acme, "c@x.test"}});
    BOOST_TEST(client.column("SELECT type FROM webhook_events ORDER BY type") ==
               (Texts{"member.created", "member.created"}));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_outbox") == 2);
    collect({{acme, "a@x.test", "", "Ann"}, {acme, "c@x.test"}});
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_outbox") == 3);
}

// Random batches, written together for one pair of organizations, and alone for another pair.
BOOST_AUTO_TEST_CASE(a_batch_has_the_results_of_the_same_requests_one_after_another) {
    const std::vector<OrgId> together = {acme, other};
    const std::vector<OrgId> alone = {organization("Third"), organization("Fourth")};
    for (const auto& organizations : {together, alone}) {
        service::enable_attribute(context, organizations[0], "phone", true);
    }
    std::mt19937 random(20261122);
    const auto below = [&](int limit) {
        return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    for (int round = 0; round < 40; ++round) {
        std::vector<Creation> batch;
        std::vector<Creation> same;
        const int size = 1 + below(20);
        for (int i = 0; i < size; ++i) {
            const auto place = static_cast<std::size_t>(below(2));
            const std::string name = "u" + std::to_string(below(25));
            Creation creation{together[place], name + "@together.test"};
            if (below(2) == 0) creation.key = "k" + std::to_string(below(12));
            if (below(3) == 0) creation.first_name = "N" + std::to_string(below(3));
            if (below(4) == 0) creation.attributes = R"({"phone":"1"})";
            batch.push_back(creation);
            creation.organization = alone[place];
            creation.email = name + "@alone.test";
            same.push_back(creation);
        }
        Texts expected;
        for (const Creation& creation : same) expected.push_back(summary(create_alone(creation)));
        BOOST_TEST(summaries(collect(batch)) == expected, "round " << round);
    }
    const auto state = [&](const std::vector<OrgId>& organizations) {
        return client.column(
            "SELECT CONCAT_WS(' ', organization_id = ?, SUBSTRING_INDEX(email, '@', 1), first_name, "
            "attributes = '{}') FROM members WHERE organization_id IN (?, ?) ORDER BY 1",
            organizations[0], organizations[0], organizations[1]);
    };
    BOOST_TEST(state(together) == state(alone));
}

// ---------------------------------------------------------------------------- conflicts with
// others

BOOST_AUTO_TEST_CASE(a_key_that_another_worker_records_meanwhile_is_replayed_and_the_others_pass) {
    test::Client first;
    first.run("START TRANSACTION");
    first.execute(
        "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, "
        "created_at, expires_at) VALUES (?, ?, ?, 201, '{}first', ?, ?)",
        acme, sha256("k"), sha256("a@x.test||"), Timestamp::now(),
        Timestamp::now() + std::chrono::hours(1));
    const std::vector<Creation> calls = {{acme, "a@x.test", "k"}, {acme, "b@x.test", "k2"}};
    BOOST_TEST(summaries(collect(calls)) == (Texts{"left IDEMPOTENCY_IN_PROGRESS", "201 created"}));
    first.run("COMMIT");
    BOOST_TEST(summaries(collect(calls)) == (Texts{"201 first replayed", "201 created replayed"}));
    BOOST_TEST(client.column("SELECT email FROM users") == Texts{"b@x.test"});
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_committed_yet_is_left_and_the_others_pass) {
    test::Client first;
    first.run("START TRANSACTION");
    first.execute(
        "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, "
        "created_at, expires_at) VALUES (?, ?, ?, 201, 'x', 1, 1)",
        acme, sha256("k"), sha256("body"));
    const auto outcomes = collect({{acme, "a@x.test", "k"}, {acme, "b@x.test", "k2"}});
    first.run("ROLLBACK");
    BOOST_TEST(summaries(outcomes) == (Texts{"left IDEMPOTENCY_IN_PROGRESS", "201 created"}));
    BOOST_TEST(error_of(outcomes[0])->retry_after() == 1);
    BOOST_TEST(summary(collect({{acme, "a@x.test", "k"}})[0]) == "201 created");
}

BOOST_AUTO_TEST_CASE(of_many_keys_that_are_not_committed_yet_two_are_tried_in_a_batch) {
    test::Client first;
    first.run("START TRANSACTION");
    std::vector<Creation> calls;
    for (int i = 0; i < 6; ++i) {
        const std::string key = "k" + std::to_string(i);
        first.execute(
            "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, "
            "created_at, expires_at) VALUES (?, ?, ?, 201, 'x', 1, 1)",
            acme, sha256(key), sha256("body"));
        calls.push_back({acme, key + "@x.test", key});
    }
    calls.push_back({other, "b@x.test", "k"});
    const auto outcomes = summaries(collect(calls));
    first.run("ROLLBACK");
    BOOST_TEST(outcomes ==
               (Texts{"left IDEMPOTENCY_IN_PROGRESS", "left IDEMPOTENCY_IN_PROGRESS",
                      "left SERVICE_UNAVAILABLE", "left SERVICE_UNAVAILABLE",
                      "left SERVICE_UNAVAILABLE", "left SERVICE_UNAVAILABLE", "201 created"}));
    BOOST_TEST(test::until([&] { return reply_of(collect({{acme, "k5@x.test", "k5"}})[0]); }));
}

BOOST_AUTO_TEST_CASE(calls_of_an_organization_with_a_locked_row_are_left_to_a_later_batch) {
    // Addresses of this test only: a deleted row of the same address makes InnoDB lock the next
    // one.
    create_alone({acme, "held@x.test"});
    lock_user("held@x.test");
    const auto first = collect({{acme, "held@x.test"}, {other, "calm-1@x.test"}});
    BOOST_TEST(summaries(first) == (Texts{"left SERVICE_UNAVAILABLE", "201 created"}));
    BOOST_TEST(error_of(first[0])->retry_after() >= 1);
    // The second call of the organization is not tried.
    const auto second =
        collect({{acme, "held@x.test"}, {other, "calm-2@x.test"}, {acme, "free@x.test"}});
    BOOST_TEST(summaries(second) ==
               (Texts{"left SERVICE_UNAVAILABLE", "201 created", "left SERVICE_UNAVAILABLE"}));
    client.run("ROLLBACK");
    BOOST_TEST(test::until([&] { return reply_of(collect({{acme, "held@x.test"}})[0]); }));
    BOOST_TEST(summaries(collect({{acme, "held@x.test"}, {acme, "free@x.test"}})) ==
               (Texts{"200 merged", "201 created"}));
}

BOOST_AUTO_TEST_CASE(locked_rows_of_one_organization_cost_the_others_few_statements) {
    constexpr int kRows = 16;
    std::vector<Creation> creations;
    for (int i = 0; i < kRows; ++i) {
        const std::string place = std::to_string(i);
        create_alone({acme, "held-" + place + "@x.test"});
        creations.push_back({acme, "held-" + place + "@x.test"});
        creations.push_back({other, "calm-" + place + "@x.test"});
    }
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM users WHERE email LIKE 'held-%' FOR UPDATE");
    db::statistics() = {};
    const auto begin = std::chrono::steady_clock::now();
    const auto outcomes = collect(creations);
    const bool is_quick = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100);
    const auto statements = db::statistics().statements;
    client.run("ROLLBACK");
    BOOST_TEST(std::ranges::count_if(outcomes, test::is_left) == kRows);
    BOOST_TEST(std::ranges::count_if(outcomes, reply_of) == kRows);
    // After an attempt of 100 ms, as on MySQL, the collector writes each call alone.
    BOOST_TEST((statements < 5 * kRows || !is_quick));
}

BOOST_AUTO_TEST_CASE(while_a_row_stays_locked_the_pauses_between_its_attempts_grow) {
    create_alone({acme, "held@x.test"});
    lock_user("held@x.test");
    const auto next_attempt = [&] {
        const auto outcomes = collect({{acme, "held@x.test"}});
        return std::get<service::RowsLocked>(outcomes[0]).until;
    };
    // Few, because an attempt takes at least one second on MySQL.
    constexpr std::size_t kAttempts = 3;
    std::set<std::chrono::steady_clock::time_point> attempts;
    BOOST_TEST(test::until([&] {
        attempts.insert(next_attempt());
        return attempts.size() == kAttempts;
    }));
    client.run("ROLLBACK");
    // The ends of two pauses differ by the later pause, or by more on a busy machine.
    std::chrono::milliseconds shortest{20};
    for (auto later = std::next(attempts.begin()); later != attempts.end(); ++later) {
        BOOST_TEST((*later - *std::prev(later) >= shortest));
        shortest *= 2;
    }
}

BOOST_AUTO_TEST_CASE(collectors_with_overlapping_addresses_and_keys_create_each_once) {
    constexpr int kRounds = 15;
    constexpr int kWorkers = 3;
    const std::vector<OrgId> organizations = {acme, other};
    std::atomic<int> failed = 0;
    test::in_parallel(kWorkers, [&](int place) {
        test::DatabaseContext own(test::collector_settings());
        service::Collector in_worker(own.context);
        std::mt19937 random(static_cast<unsigned>(place));
        for (int round = 0; round < kRounds; ++round) {
            std::vector<Creation> creations;
            for (int i = 0; i < 12; ++i) {
                const std::string name = std::to_string(round * 12 + i);
                creations.push_back(
                    {organizations[static_cast<std::size_t>(i % 2)], name + "@x.test", "k" + name});
            }
            std::shuffle(creations.begin(), creations.end(), random);
            for (const Outcome& outcome : test::collect_patiently(in_worker, calls_of(creations))) {
                const std::string text = summary(outcome);
                if (text != "201 created" && text != "201 created replayed") ++failed;
            }
        }
    });
    BOOST_TEST(failed == 0);
    BOOST_TEST(users() == kRounds * 12);
    BOOST_TEST(records() == kRounds * 12);
}

BOOST_AUTO_TEST_CASE(a_connection_lost_before_the_commit_is_retried_without_duplicates) {
    collect({{acme, "a@x.test"}});
    client.kill(worker.database.autocommit(test::session_of));
    BOOST_TEST(summaries(collect({{acme, "b@x.test", "k"}, {acme, "c@x.test"}})) ==
               (Texts{"201 created", "201 created"}));
    BOOST_TEST(users() == 3);
}

BOOST_AUTO_TEST_CASE(a_row_that_the_database_rejects_fails_one_request_only) {
    const test::SchemaChange refusing(
        client,
        "CREATE TRIGGER refusing BEFORE INSERT ON users FOR EACH ROW IF NEW.email = 'bad@x.test' "
        "THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF",
        "DROP TRIGGER refusing");
    BOOST_TEST(summaries(collect({{acme, "a@x.test"}, {acme, "bad@x.test"}, {acme, "b@x.test"}})) ==
               (Texts{"201 created", "other", "201 created"}));
}

BOOST_AUTO_TEST_SUITE_END()
