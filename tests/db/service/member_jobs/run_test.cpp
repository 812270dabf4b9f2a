// service/member_jobs: a dry run counts what a commit changes; a commit changes each matching
// member once, with its audit entry and its event, whatever interrupts it.
#include "service/member_jobs/run.hpp"

#include "db/webhook_fixture.hpp"
#include "jobs/member_jobs.hpp"
#include "rules/audit.hpp"
#include "rules/quotas.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"
#include "service/member_jobs/jobs.hpp"

#include "print.hpp"

#include <functional>
#include <future>

using namespace muster;
using jobs::Deadline;
using rules::MemberAction;
using rules::MemberJob;
using rules::MemberJobFilter;
using rules::MemberJobId;
using rules::MemberJobState;
using test::code_of;

namespace {

struct Jobs : test::WebhookFixture {
    void add(int from, int to, const std::string& country, OrgId organization) {
        for (int i = from; i < to; ++i) {
            const std::string email = "m" + std::to_string(i) + "@x.test";
            client.execute("INSERT IGNORE INTO users (id, email, created_at) VALUES (?, ?, 1)",
                           UserId::create(), email);
            client.execute(
                "INSERT INTO members (organization_id, user_id, id, email, country, attributes, "
                "created_at, updated_at) SELECT ?, id, ?, email, ?, '{}', 1, 1 FROM users "
                "WHERE email = ?",
                organization, MemberId::create(), country, email);
        }
    }
    void add(int from, int to, const std::string& country) { add(from, to, country, acme); }
    template <class Work>
    auto as_admin(const Work& change) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return change(transaction);
        });
    }
    MemberJob create(MemberAction action, const MemberJobFilter& filter,
                     std::optional<std::string> reason = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_member_job(transaction, {action, std::move(reason), filter});
        });
    }
    MemberJob commit(MemberJobId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::commit_member_job(transaction, id);
        });
    }
    MemberJob cancel(MemberJobId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::cancel_member_job(transaction, id);
        });
    }
    // The claim of a runner that waits for the transaction of these changes.
    std::optional<service::MemberJobLease> claim_during(const std::function<void()>& changes) {
        return result_after(changes, [] {
            test::DatabaseContext rival;
            return service::claim_due_member_job(rival.context, Uuid::v7());
        });
    }
    // Turns of a runner until no work is left.
    int run() {
        const Deadline deadline(Milliseconds(60'000));
        int turns = 0;
        while (turns < 1000 && work.turn(deadline)) ++turns;
        return turns;
    }
    MemberJob job(MemberJobId id) { return *service::find_member_job(context, acme, id); }
    // A job after its dry run and its commit.
    MemberJob completed(MemberAction action, const MemberJobFilter& filter) {
        const auto id =
            create(action, filter,
                   action == MemberAction::Lock ? std::optional<std::string>("why") : std::nullopt)
                .id;
        run();
        commit(id);
        run();
        return job(id);
    }
    std::int64_t count(const std::string& condition) {
        return client.number(
            "SELECT COUNT(*) FROM members WHERE organization_id = ? AND " + condition, acme);
    }
    std::int64_t entries(const std::string& action) {
        return client.number(
            "SELECT COUNT(*) FROM audit_log WHERE actor_id = ? AND request_id = 'req-1' "
            "AND action = ?",
            admin, action);
    }

    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
    jobs::MemberJobWork work{context};
    const MemberJobFilter germans{.country = "DE"};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(member_jobs, Jobs)

BOOST_AUTO_TEST_CASE(a_dry_run_counts_and_changes_nothing) {
    add(0, 300, "DE");
    add(300, 310, "FR");
    client.run("UPDATE members SET status = 'locked' WHERE email LIKE 'm1_@x.test'");
    const auto before = client.snapshot(acme);
    const auto id = create(MemberAction::Lock, germans, "why").id;
    BOOST_TEST((job(id).state == MemberJobState::Validating));
    BOOST_TEST(!job(id).preview.has_value());
    run();
    const auto counted = job(id);
    BOOST_TEST((counted.state == MemberJobState::Validated));
    BOOST_TEST(counted.preview->changed == 290);
    BOOST_TEST(counted.preview->unchanged == 10);
    BOOST_TEST(counted.processed_count == 300);
    BOOST_TEST(counted.counts.changed == 0);
    BOOST_TEST(client.snapshot(acme).at("members") == before.at("members"));
    BOOST_TEST(run() == 0);
}

BOOST_AUTO_TEST_CASE(a_commit_locks_and_unlocks_the_members_that_match) {
    add(0, 250, "DE");
    add(250, 255, "FR");
    endpoint(acme, installation, "https://x.test/", "member.locked member.unlocked member.removed");
    const auto locked = completed(MemberAction::Lock, germans);
    BOOST_TEST((locked.state == MemberJobState::Completed));
    BOOST_TEST(locked.counts.changed == 250);
    BOOST_TEST(locked.counts.unchanged == 0);
    BOOST_TEST(locked.committed_by_id == admin);
    BOOST_TEST(locked.committed_by_email.value() == "ann@example.test");
    BOOST_TEST(locked.completed_at.has_value());
    BOOST_TEST(count("status = 'locked' AND lock_reason = 'why' AND locked_at > 0") == 250);
    BOOST_TEST(entries("user.locked") == 250);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE type = 'member.locked'") ==
               250);
    const auto again = completed(MemberAction::Lock, germans);
    BOOST_TEST(again.preview->changed == 0);
    BOOST_TEST(again.counts.unchanged == 250);
    BOOST_TEST(entries("user.locked") == 250);
    const auto unlocked = completed(MemberAction::Unlock, {.status = rules::MemberStatus::Locked});
    BOOST_TEST(unlocked.counts.changed == 250);
    BOOST_TEST(count("status = 'active' AND lock_reason IS NULL") == 255);
    BOOST_TEST(entries("user.unlocked") == 250);
}

BOOST_AUTO_TEST_CASE(a_commit_removes_members_as_a_single_call_does) {
    const OrgId other = organization("Other");
    add(0, 120, "DE");
    add(120, 125, "FR");
    add(0, 10, "DE", other);
    endpoint(acme, installation, "https://x.test/", "member.removed");
    const auto removed =
        completed(MemberAction::Remove, {.prefix = "m", .updated_since = Timestamp(1)});
    BOOST_TEST(removed.preview->changed == 125);
    BOOST_TEST(removed.counts.changed == 125);
    BOOST_TEST(count("1 = 1") == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE organization_id = ?", other) ==
               10);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 125);
    BOOST_TEST(entries("user.removed") == 125);
    const auto body =
        client.value("SELECT body FROM webhook_events WHERE type = 'member.removed' LIMIT 1");
    BOOST_TEST(body.find("@x.test") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_job_of_a_key_leaves_no_entries) {
    add(0, 3, "DE");
    const auto id = as(acme, [&](service::OrgTransaction& transaction) {
        return service::create_member_job(transaction, {MemberAction::Lock, {}, germans}).id;
    });
    run();
    as(acme, [&](service::OrgTransaction& transaction) {
        return service::commit_member_job(transaction, id);
    });
    run();
    BOOST_TEST(job(id).counts.changed == 3);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'user.locked'") == 0);
}

BOOST_AUTO_TEST_CASE(a_runner_that_was_killed_loses_and_repeats_no_member) {
    add(0, 250, "DE");
    const auto id = create(MemberAction::Lock, germans).id;
    run();
    commit(id);
    const auto dead = service::claim_due_member_job(context, Uuid::v7());
    BOOST_TEST_REQUIRE(dead.has_value());
    BOOST_TEST(service::run_member_job_unit(context, *dead));
    BOOST_TEST(job(id).counts.changed == 100);
    BOOST_TEST(run() == 0);  // its lease still holds
    client.execute("UPDATE member_jobs SET lease_until = 0");
    run();
    BOOST_TEST(job(id).counts.changed == 250);
    BOOST_TEST(entries("user.locked") == 250);
    BOOST_CHECK_THROW((void)service::run_member_job_unit(context, *dead), service::LeaseLost);
}

BOOST_AUTO_TEST_CASE(a_canceled_commit_stops_after_its_unit) {
    add(0, 250, "DE");
    const auto id = create(MemberAction::Remove, germans).id;
    run();
    commit(id);
    const auto lease = service::claim_due_member_job(context, Uuid::v7());
    BOOST_TEST(service::run_member_job_unit(context, *lease));
    BOOST_TEST((cancel(id).state == MemberJobState::Canceled));
    BOOST_CHECK_THROW((void)service::run_member_job_unit(context, *lease), service::LeaseLost);
    BOOST_TEST(run() == 0);
    BOOST_TEST(count("1 = 1") == 150);
    BOOST_TEST(job(id).counts.changed == 100);
    BOOST_TEST((cancel(id).state == MemberJobState::Canceled));
    BOOST_TEST(code_of([&] { commit(id); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(an_organization_has_one_active_job) {
    const auto first = create(MemberAction::Lock, germans).id;
    BOOST_TEST(code_of([&] { create(MemberAction::Unlock, germans); }) == ErrorCode::InvalidState);
    BOOST_TEST(code_of([&] { commit(first); }) == ErrorCode::InvalidState);
    client.execute("UPDATE member_jobs SET expires_at = ?", Timestamp::now());
    BOOST_TEST(!service::find_member_job(context, acme, first).has_value());
    const auto second = create(MemberAction::Unlock, germans).id;
    cancel(second);
    (void)create(MemberAction::Unlock, germans);
    BOOST_TEST(service::list_member_jobs(context, acme, {}, 10).size() == 2U);
    BOOST_TEST(service::list_member_jobs(context, organization("Other"), {}, 10).empty());
}

BOOST_AUTO_TEST_CASE(an_organization_creates_a_limited_number_of_jobs_a_day) {
    cancel(create(MemberAction::Lock, germans).id);
    client.execute("UPDATE organization_days SET amount = ? WHERE kind = 'member_jobs'",
                   rules::kMostMemberJobs - 1);
    cancel(create(MemberAction::Lock, germans).id);
    BOOST_TEST(code_of([&] { create(MemberAction::Lock, germans); }) == ErrorCode::QuotaExceeded);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM member_jobs") == 2);
    client.execute("UPDATE organization_days SET day = day - 1");
    (void)create(MemberAction::Lock, germans);
    // An active job is the reason, not the day: the call changes nothing.
    BOOST_TEST(code_of([&] { create(MemberAction::Lock, germans); }) == ErrorCode::InvalidState);
    as(organization("Other"), [&](service::OrgTransaction& transaction) {
        (void)service::create_member_job(transaction, {MemberAction::Lock, {}, germans});
    });
}

BOOST_AUTO_TEST_CASE(a_filter_without_a_condition_and_a_needless_reason_are_faults) {
    BOOST_TEST(code_of([&] { create(MemberAction::Remove, {}); }) == ErrorCode::ValidationError);
    BOOST_TEST(code_of([&] { create(MemberAction::Remove, germans, "why"); }) ==
               ErrorCode::ValidationError);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM member_jobs") == 0);
}

BOOST_AUTO_TEST_CASE(a_limit_of_the_day_stops_locks_and_no_removals) {
    const std::vector<std::pair<std::string, std::string>> quotas = {
        {"audit_entries", "The audit log of the day is full."},
        {"member_bytes", "The bytes of members and their webhook events of the day are used up."}};
    for (const auto& [quota, reason] : quotas) {
        add(0, 3, "DE");
        client.execute("DELETE FROM organization_days");
        client.execute(
            "INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
            "VALUES (?, ?, ?, 0, 1000000000000)",
            acme, Timestamp::now().milliseconds() / 86'400'000, quota);
        const auto locked = completed(MemberAction::Lock, germans);
        BOOST_TEST((locked.state == MemberJobState::Failed));
        BOOST_TEST(locked.failure->code == "QUOTA_EXCEEDED");
        BOOST_TEST(locked.failure->message.starts_with(reason));
        BOOST_TEST(count("status = 'active'") == 3);
        BOOST_TEST(completed(MemberAction::Remove, germans).counts.changed == 3);
    }
}

BOOST_AUTO_TEST_CASE(a_job_counts_the_bytes_of_its_entries_and_events_except_of_removals) {
    add(0, 3, "DE");
    endpoint(acme, installation, "https://x.test/", "member.locked");
    BOOST_TEST(completed(MemberAction::Lock, germans).counts.changed == 3);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 3);
    const auto counted = [&] {
        return client.number(
            "SELECT SUM(amount) FROM organization_days WHERE kind = 'member_bytes'");
    };
    const std::int64_t locked = counted();
    BOOST_TEST(locked == client.number("SELECT 3 * (200 + LENGTH('why')) + "
                                       "SUM(LENGTH(body) + 300) FROM webhook_events"));
    BOOST_TEST(completed(MemberAction::Remove, germans).counts.changed == 3);
    BOOST_TEST(counted() == locked);
}

BOOST_AUTO_TEST_CASE(a_job_without_progress_fails_after_its_attempts) {
    const auto id = create(MemberAction::Lock, germans).id;
    client.execute("UPDATE member_jobs SET filter = '[]'");
    for (int turn = 0; turn < 20; ++turn) {
        run();
        client.execute("UPDATE member_jobs SET lease_until = 0");
    }
    BOOST_TEST((job(id).state == MemberJobState::Failed));
    BOOST_TEST(job(id).failure->code == "MEMBER_JOB_ATTEMPTS_EXHAUSTED");
}

BOOST_AUTO_TEST_CASE(an_attempt_that_changed_members_is_not_the_last_one) {
    add(0, 250, "DE");
    const auto id = create(MemberAction::Lock, germans, "why").id;
    run();
    commit(id);
    const test::SchemaChange refusing(
        client,
        "CREATE TRIGGER refusing BEFORE UPDATE ON members FOR EACH ROW "
        "IF OLD.email = 'm249@x.test' THEN SIGNAL SQLSTATE '45000'; END IF",
        "DROP TRIGGER refusing");
    client.execute("UPDATE member_jobs SET attempts = ?", context.settings.jobs.attempts - 1);
    run();
    BOOST_TEST((job(id).state == MemberJobState::Committing));
    BOOST_TEST(job(id).counts.changed == 200);
    for (int turn = 0; turn < 20; ++turn) {
        client.execute("UPDATE member_jobs SET lease_until = 0");
        run();
    }
    BOOST_TEST((job(id).state == MemberJobState::Failed));
    BOOST_TEST(job(id).counts.changed == 200);
}

BOOST_AUTO_TEST_CASE(a_filter_that_cannot_be_read_fails_the_job_and_changes_no_member) {
    add(0, 3, "DE");
    for (const char* filter :
         {"{}", R"({"country":null})", R"({"status":"active","q":null})",
          R"({"country":"DE","city":"Bonn"})", R"({"country":"DE","attributes":[]})"}) {
        const auto id = create(MemberAction::Remove, germans).id;
        run();
        commit(id);
        client.execute("UPDATE member_jobs SET filter = ? WHERE id = ?", filter, id);
        for (int turn = 0; turn < 20; ++turn) {
            run();
            client.execute("UPDATE member_jobs SET lease_until = 0");
        }
        BOOST_TEST((job(id).state == MemberJobState::Failed), filter);
        BOOST_TEST(count("1 = 1") == 3, filter);
    }
}

BOOST_AUTO_TEST_CASE(a_unit_ends_at_the_bytes_of_its_members) {
    // Together 30 MiB, above the server's max_allowed_packet; one alone is above the bound.
    add(0, 100, "DE");
    client.run(
        "UPDATE members SET attributes = CONCAT('{\"note\":[\"', REPEAT('x', "
        "IF(email = 'm50@x.test', 5000000, 300000)), '\",\"api\",1]}')");
    endpoint(acme, installation, "https://x.test/", "member.locked");
    const auto id = create(MemberAction::Lock, germans).id;
    run();
    commit(id);
    const auto lease = service::claim_due_member_job(context, Uuid::v7());
    std::int64_t done = 0;
    int units = 0;
    for (bool has_more = true; has_more; ++units) {
        has_more = service::run_member_job_unit(context, *lease);
        const auto changed = job(id).counts.changed - done;
        BOOST_TEST(changed <= 15);
        done += changed;
    }
    BOOST_TEST(done == 100);
    BOOST_TEST(units >= 7);
    BOOST_TEST((job(id).state == MemberJobState::Completed));
    BOOST_TEST(count("status = 'locked'") == 100);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 100);
}

BOOST_AUTO_TEST_CASE(a_claim_that_waited_for_the_disabling_of_the_organization_finds_no_job) {
    create(MemberAction::Lock, germans);
    const auto lease = claim_during([&] {
        client.run("UPDATE member_jobs SET lease_until = 0, updated_at = updated_at + 1");
        client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", acme);
    });
    BOOST_TEST(!lease.has_value());
}

BOOST_AUTO_TEST_CASE(a_runner_that_loses_a_job_to_another_takes_the_next_one) {
    const OrgId other = organization("Other");
    const auto create_in = [&](OrgId organization) {
        return as(organization, [&](service::OrgTransaction& transaction) {
            return service::create_member_job(transaction, {MemberAction::Lock, {}, germans}).id;
        });
    };
    const auto first = create_in(acme);
    client.execute("UPDATE member_jobs SET created_at = created_at - 1000");
    const auto second = create_in(other);
    const auto lease = claim_during([&] {
        client.execute("UPDATE member_jobs SET lease_owner = ?, lease_until = ? WHERE id = ?",
                       Uuid::v7(), Timestamp::now() + Milliseconds(60'000), first);
    });
    BOOST_TEST_REQUIRE(lease.has_value());
    BOOST_TEST((lease->id == second));
}

BOOST_AUTO_TEST_SUITE_END()
