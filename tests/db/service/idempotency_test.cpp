// service/context.hpp: an Idempotency-Key, its effect and its reply are one transaction.
#include "service/idempotency.hpp"
#include "service/context.hpp"

#include "base/crypto.hpp"
#include "db/fixture.hpp"
#include "store/idempotency.hpp"

#include "print.hpp"

#include <atomic>
#include <future>
#include <variant>

using namespace muster;
using service::IdempotencyClaim;
using service::OrgTransaction;
using service::StoredReply;
using test::code_of;
using test::DatabaseContext;
using test::error_of;
using test::Fixture;

namespace {

constexpr db::SystemSql kEffect{"test.effect", db::Why{"a table of this test, no tenant's data"},
                                "INSERT INTO admins (id, email, created_at) VALUES (?, ?, 1)"};

IdempotencyClaim claim(const std::string& key = "key", const std::string& body = "body") {
    return {sha256(key), sha256(body), Secret(key)};
}

struct Idempotency : Fixture {
    // Writes one admin and replies with its address.
    StoredReply run(service::Context& with, OrgId organization,
                    const std::optional<IdempotencyClaim>& claim, const std::string& effect,
                    std::optional<Timestamp> keep_until = {}) {
        return service::transact(with, {organization, {}}, claim, [&](OrgTransaction& transaction) {
            ++runs;
            transaction.tx.execute(kEffect, AdminId::create(), effect);
            return StoredReply{201, "/here/" + effect, "{\"made\":\"" + effect + "\"}", keep_until};
        });
    }
    StoredReply run(const std::optional<IdempotencyClaim>& claim, const std::string& effect,
                    std::optional<Timestamp> keep_until = {}) {
        return run(context, acme, claim, effect, keep_until);
    }
    std::int64_t effects() { return client.number("SELECT COUNT(*) FROM admins"); }

    std::atomic<int> runs = 0;
    OrgId acme = organization("Acme");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(idempotency, Idempotency)

BOOST_AUTO_TEST_CASE(without_a_key_every_call_runs) {
    BOOST_TEST(!run({}, "a").replayed);
    BOOST_TEST(!run({}, "b").replayed);
    BOOST_TEST(effects() == 2);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys") == 0);
}

BOOST_AUTO_TEST_CASE(a_second_call_gets_the_first_reply_byte_for_byte) {
    const auto first = run(claim(), "a");
    const auto second = run(claim(), "b");
    BOOST_TEST(!first.replayed);
    BOOST_TEST(second.replayed);
    BOOST_TEST(second.status == 201);
    BOOST_TEST(second.location == "/here/a");
    BOOST_TEST(second.body == first.body);
    BOOST_TEST(runs == 1);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_CASE(a_reply_without_a_location_and_with_any_bytes_is_replayed) {
    const std::string body("\0\xff'?:org{}\n", 11);
    const auto work = [&](OrgTransaction&) { return StoredReply{204, "", body, {}}; };
    service::transact(context, {acme, {}}, claim(), work);
    const auto replay = service::transact(context, {acme, {}}, claim(), work);
    BOOST_TEST(replay.replayed);
    BOOST_TEST(replay.status == 204);
    BOOST_TEST(replay.location == "");
    BOOST_TEST(replay.body == body);
}

BOOST_AUTO_TEST_CASE(the_same_key_with_another_body_is_a_conflict) {
    run(claim("key", "one"), "a");
    BOOST_TEST(code_of([&] { run(claim("key", "two"), "b"); }) == ErrorCode::IdempotencyConflict);
    BOOST_TEST(runs == 1);
    BOOST_TEST(run(claim("key", "one"), "c").replayed);
}

BOOST_AUTO_TEST_CASE(another_key_or_organization_is_independent) {
    const OrgId other = organization("Other");
    run(claim("one"), "a");
    BOOST_TEST(!run(claim("two"), "b").replayed);
    BOOST_TEST(!run(context, other, claim("one", "another body"), "c").replayed);
    BOOST_TEST(effects() == 3);
}

BOOST_AUTO_TEST_CASE(a_failed_call_leaves_no_row_and_its_key_can_be_used_again) {
    const auto fail = [&](const auto& thrown) {
        service::transact(context, {acme, {}}, claim(),
                          [&](OrgTransaction& transaction) -> StoredReply {
                              transaction.tx.execute(kEffect, AdminId::create(), "never");
                              throw thrown;
                          });
    };
    BOOST_TEST(
        (code_of([&] { fail(Error(ErrorCode::ValidationError)); }) == ErrorCode::ValidationError));
    BOOST_CHECK_THROW(fail(std::runtime_error("x")), std::runtime_error);
    BOOST_TEST(effects() == 0);
    BOOST_TEST(!run(claim("key", "the corrected body"), "a").replayed);
}

BOOST_AUTO_TEST_CASE(a_recorded_reply_is_ignored_after_it_expires) {
    run(claim(), "a");
    const auto expires = client.number("SELECT expires_at - created_at FROM idempotency_keys");
    BOOST_TEST(expires == 24 * 3600 * 1000);
    client.execute("UPDATE idempotency_keys SET expires_at = ?", Timestamp::now());
    const auto again = run(claim("key", "even another body"), "b");
    BOOST_TEST(!again.replayed);
    BOOST_TEST(again.location == "/here/b");
    BOOST_TEST(effects() == 2);
    BOOST_TEST(run(claim("key", "even another body"), "c").replayed);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys") == 1);
}

BOOST_AUTO_TEST_CASE(a_reply_is_kept_for_its_own_duration) {
    const Timestamp until = Timestamp::now() + std::chrono::hours(30 * 24);
    run(claim(), "a", until);
    BOOST_TEST(client.number("SELECT expires_at FROM idempotency_keys") == until.milliseconds());
}

BOOST_AUTO_TEST_CASE(the_recorded_hash_of_a_body_depends_on_the_idempotency_key) {
    run(claim("first"), "a");
    run(claim("second"), "b");
    const auto hashes = client.column("SELECT body_hash FROM idempotency_keys");
    BOOST_TEST_REQUIRE(hashes.size() == 2U);
    BOOST_TEST((hashes[0] != hashes[1]));
    for (const std::string& hash : hashes) BOOST_TEST((hash != sha256("body")));
}

BOOST_AUTO_TEST_CASE(a_rotated_key_and_a_record_of_an_older_program_still_replay) {
    run(claim(), "a");
    DatabaseContext worker;
    service::Context rotated{
        worker.database, test::settings(),
        KeyRing(Secret("the next key of this installation, 32 bytes or more"))};
    BOOST_TEST(run(rotated, acme, claim(), "b").replayed);
    BOOST_TEST(code_of([&] { run(rotated, acme, claim("key", "other"), "c"); }) ==
               ErrorCode::IdempotencyConflict);
    client.execute("UPDATE idempotency_keys SET body_hash = ?", sha256("body"));
    BOOST_TEST(run(claim(), "d").replayed);
    BOOST_TEST(effects() == 1);
}

// ---------------------------------------------------------------------------- secrets shown once

namespace {

constexpr std::string_view kShown = R"({"key":"org_shown-this-once-and-never-again"})";

StoredReply show(service::Context& with, OrgId organization, const IdempotencyClaim& claim) {
    return service::transact(with, {organization, {}}, claim, [](OrgTransaction&) {
        return StoredReply{201, "/here", std::string(kShown), {}, false, true};
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_secret_shown_once_is_replayed_byte_for_byte_and_stored_sealed) {
    BOOST_TEST(!show(context, acme, claim()).replayed);
    const auto replay = show(context, acme, claim());
    BOOST_TEST(replay.replayed);
    BOOST_TEST(replay.status == 201);
    BOOST_TEST(replay.location == "/here");
    BOOST_TEST(replay.body == kShown);
    BOOST_TEST(client.number("SELECT sealed FROM idempotency_keys") == 1);
    const std::string body = client.value("SELECT body FROM idempotency_keys");
    for (std::size_t at = 0; at + 4 <= kShown.size(); ++at) {
        BOOST_TEST(body.find(kShown.substr(at, 4)) == std::string::npos, at);
    }
}

BOOST_AUTO_TEST_CASE(the_secret_cannot_be_read_without_the_idempotency_key) {
    show(context, acme, claim());
    const std::string body = client.value("SELECT body FROM idempotency_keys");
    const auto inner = context.keys.open(body, "reply");
    BOOST_TEST_REQUIRE(inner.has_value());
    BOOST_TEST(inner->reveal().find("org_") == std::string::npos);
    // The same row with another Idempotency-Key.
    auto forged = claim();
    forged.scope = Secret("another key");
    BOOST_TEST(code_of([&] { show(context, acme, forged); }) == ErrorCode::IdempotencyConflict);
    BOOST_TEST(show(context, acme, claim()).body == kShown);
}

BOOST_AUTO_TEST_CASE(a_secret_sealed_with_a_missing_key_is_a_conflict_and_is_kept) {
    show(context, acme, claim());
    const Secret next(std::string(32, 'n'));
    service::Context other{database, test::settings(), KeyRing(next)};
    BOOST_TEST(code_of([&] { show(other, acme, claim()); }) == ErrorCode::IdempotencyConflict);
    service::Context rotating{database, test::settings(),
                              KeyRing(next, test::settings().security.key)};
    BOOST_TEST(show(rotating, acme, claim()).body == kShown);
    BOOST_TEST(show(context, acme, claim()).body == kShown);
}

BOOST_AUTO_TEST_CASE(a_sealed_reply_moved_to_another_row_does_not_open) {
    show(context, acme, claim("one"));
    show(context, acme, claim("two"));
    client.run(
        "UPDATE idempotency_keys a JOIN idempotency_keys b ON a.key_hash <> b.key_hash "
        "SET a.body = b.body WHERE a.key_hash < b.key_hash");
    int conflicts = 0;
    for (const char* key : {"one", "two"}) {
        conflicts += code_of([&] { show(context, acme, claim(key)); }) ? 1 : 0;
    }
    BOOST_TEST(conflicts == 1);
}

BOOST_AUTO_TEST_CASE(a_reply_without_a_secret_is_stored_unsealed) {
    const auto reply = run(claim(), "a");
    BOOST_TEST(client.value("SELECT body FROM idempotency_keys") == reply.body);
    BOOST_TEST(client.number("SELECT sealed FROM idempotency_keys") == 0);
}

// ---------------------------------------------------------------------------- in parallel

BOOST_AUTO_TEST_CASE(parallel_duplicates_run_once_and_replay) {
    constexpr int kThreads = 10;
    std::vector<StoredReply> replies(kThreads);
    test::in_parallel(kThreads, [&](int i) {
        DatabaseContext worker;
        replies.at(i) = run(worker.context, acme, claim(), "by-" + std::to_string(i));
    });
    int replayed = 0;
    for (const auto& reply : replies) {
        replayed += reply.replayed ? 1 : 0;
        BOOST_TEST(reply.body == replies.front().body);
        BOOST_TEST(reply.location == replies.front().location);
    }
    BOOST_TEST(replayed == kThreads - 1);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_CASE(parallel_duplicates_of_an_expired_key_run_once) {
    run(claim(), "old");
    client.execute("UPDATE idempotency_keys SET expires_at = 1");
    constexpr int kThreads = 6;
    test::in_parallel(kThreads, [&](int i) {
        DatabaseContext worker;
        run(worker.context, acme, claim(), "by-" + std::to_string(i));
    });
    BOOST_TEST(effects() == 2);
}

namespace {

// A first request whose transaction has recorded its reply but is not committed.
struct FirstRequest {
    explicit FirstRequest(OrgId organization, const std::string& effect = "first") {
        client.run("START TRANSACTION");
        client.execute("INSERT INTO admins (id, email, created_at) VALUES (?, ?, 1)",
                       AdminId::create(), effect);
        client.execute(
            "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, "
            "created_at, expires_at) VALUES (?, ?, ?, 201, 'first', ?, ?)",
            organization, sha256("key"), sha256("body"), Timestamp::now(),
            Timestamp::now() + std::chrono::hours(1));
    }
    void commit() { client.run("COMMIT"); }
    void roll_back() { client.run("ROLLBACK"); }

    test::Client client;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_repetition_waits_for_the_first_request_and_replays_it) {
    FirstRequest first(acme);
    auto second = std::async(std::launch::async, [&] {
        DatabaseContext worker;
        return run(worker.context, acme, claim(), "second");
    });
    BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    first.commit();
    const auto reply = second.get();
    BOOST_TEST(reply.replayed);
    BOOST_TEST(reply.body == "first");
    BOOST_TEST(runs == 0);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_CASE(a_concurrent_request_with_another_body_is_a_conflict) {
    FirstRequest first(acme);
    auto second = std::async(std::launch::async, [&] {
        DatabaseContext worker;
        return code_of([&] { run(worker.context, acme, claim("key", "other"), "second"); });
    });
    BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    first.commit();
    BOOST_TEST(second.get() == ErrorCode::IdempotencyConflict);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_CASE(a_repetition_has_its_own_effect_if_the_first_request_fails) {
    FirstRequest first(acme);
    auto second = std::async(std::launch::async, [&] {
        DatabaseContext worker;
        return run(worker.context, acme, claim(), "second");
    });
    BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    first.roll_back();
    BOOST_TEST(!second.get().replayed);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_CASE(a_first_request_that_does_not_commit_in_time_is_in_progress) {
    auto settings = test::connection_settings();
    settings.lock_timeout_seconds = 1;
    DatabaseContext second(settings);
    FirstRequest first(acme);
    const auto error = error_of([&] { run(second.context, acme, claim(), "second"); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::IdempotencyInProgress);
    BOOST_TEST(error->retry_after() == 1);
    first.commit();
    BOOST_TEST(run(second.context, acme, claim(), "second").replayed);
    BOOST_TEST(effects() == 1);
}

// The first request makes the second one fail, for example because both create the same slug.
BOOST_AUTO_TEST_CASE(a_failure_that_the_first_request_causes_is_replaced_by_its_reply) {
    const auto create = [&](service::Context& with, const std::string& body) {
        return service::transact(
            with, {acme, {}}, claim("key", body), [&](OrgTransaction& transaction) {
                const bool is_new = db::try_unique(
                    [&] { transaction.tx.execute(kEffect, AdminId::create(), "same"); });
                if (!is_new) throw Error(ErrorCode::Conflict);
                return StoredReply{201, "", "second", {}};
            });
    };
    for (const std::string body : {"body", "other"}) {
        client.run("DELETE FROM idempotency_keys");
        client.run("DELETE FROM admins");
        FirstRequest first(acme, "same");
        auto second = std::async(std::launch::async, [&]() -> std::variant<StoredReply, ErrorCode> {
            DatabaseContext worker;
            try {
                return create(worker.context, body);
            } catch (const Error& error) {
                return error.code();
            }
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
        first.commit();
        const auto result = second.get();
        if (body == "body") {
            BOOST_TEST_REQUIRE(std::get_if<StoredReply>(&result));
            BOOST_TEST(std::get<StoredReply>(result).replayed);
            BOOST_TEST(std::get<StoredReply>(result).body == "first");
        } else {
            BOOST_TEST_REQUIRE(std::get_if<ErrorCode>(&result));
            BOOST_TEST(std::get<ErrorCode>(result) == ErrorCode::IdempotencyConflict);
        }
        BOOST_TEST(effects() == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_failure_without_a_record_or_with_an_expired_one_stays_a_failure) {
    const auto fail = [&] {
        return code_of([&] {
            service::transact(context, {acme, {}}, claim(), [&](OrgTransaction&) -> StoredReply {
                ++runs;
                throw Error(ErrorCode::Conflict);
            });
        });
    };
    BOOST_TEST(fail() == ErrorCode::Conflict);
    run(claim(), "a");
    client.execute("UPDATE idempotency_keys SET expires_at = 1");
    BOOST_TEST(fail() == ErrorCode::Conflict);
    BOOST_TEST(runs == 3);  // one of them wrote
}

BOOST_AUTO_TEST_CASE(the_request_that_commits_first_wins) {
    const auto reply =
        service::transact(context, {acme, {}}, claim(), [&](OrgTransaction& transaction) {
            transaction.tx.execute(kEffect, AdminId::create(), "slow");
            DatabaseContext worker;
            BOOST_TEST(!run(worker.context, acme, claim(), "fast").replayed);
            return StoredReply{200, "", "slow", {}};
        });
    BOOST_TEST(reply.replayed);
    BOOST_TEST(reply.location == "/here/fast");
    BOOST_TEST(client.column("SELECT email FROM admins") == std::vector<std::string>{"fast"});
}

BOOST_AUTO_TEST_CASE(a_key_costs_one_look_up_and_one_insert) {
    const auto cost = [&](const std::optional<IdempotencyClaim>& with) {
        db::statistics() = {};
        run(with, "e" + std::to_string(runs));
        return db::statistics().statements;
    };
    const int without = cost(std::nullopt);
    BOOST_TEST(without == 3);  // START TRANSACTION, the effect, COMMIT
    cost(claim("first"));      // reads what the organization has used today
    BOOST_TEST(cost(claim()) == without + 2);
    BOOST_TEST(cost(claim()) == 3);  // a replay
}

BOOST_AUTO_TEST_CASE(a_connection_lost_in_a_call_runs_it_once) {
    const auto reply =
        service::transact(context, {acme, {}}, claim(), [&](OrgTransaction& transaction) {
            transaction.tx.execute(kEffect, AdminId::create(), "a");
            if (++runs == 1) client.kill(test::session_of(transaction.tx));
            return StoredReply{200, "", std::to_string(runs), {}};
        });
    BOOST_TEST(reply.body == "2");
    BOOST_TEST(!reply.replayed);
    BOOST_TEST(effects() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
