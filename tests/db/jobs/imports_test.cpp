// jobs/imports.hpp: turns of a runner complete a job, share the time between tenants, and fail a
// job that makes no progress.
#include "jobs/imports.hpp"

#include "db/imports.hpp"
#include "jobs/kinds.hpp"

#include <array>
#include <atomic>

using namespace muster;
using jobs::Deadline;
using rules::ImportState;
using test::DatabaseContext;
using test::ImportFixture;
using test::people;

namespace {

struct Runner : ImportFixture {
    // Runs turns until no work is left, or `most` of them; returns their number.
    template <class Some>
    int run(Some& some, int most = 1000) {
        const Deadline deadline(Milliseconds(60'000));
        int turns = 0;
        while (turns < most && some.turn(deadline)) ++turns;
        return turns;
    }
    int run(int most = 1000) { return run(work, most); }
    // Makes the last attempt at a job whose blocks are unreadable from `damaged` on. One thread
    // takes the units in their order.
    void attempt_last(ImportId id, int damaged) {
        client.execute(
            "UPDATE import_blocks SET data = 'damaged' WHERE job_id = ? AND block_no >= ?", id,
            damaged);
        client.execute("UPDATE import_jobs SET attempts = ? WHERE id = ?",
                       context.settings.jobs.attempts - 1, id);
        jobs::ImportWork single(context, {&first.context});
        BOOST_TEST(run(single, 1) == 1);
    }

    DatabaseContext first;
    DatabaseContext second;
    jobs::ImportWork work{context, {&first.context, &second.context}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(job_imports, Runner)

BOOST_AUTO_TEST_CASE(a_turn_without_work_reports_idle) {
    BOOST_TEST(run() == 0);
    staged(people(1, 3));
    BOOST_TEST(run() == 0);
}

BOOST_AUTO_TEST_CASE(turns_complete_a_job) {
    const ImportId id = staged(people(1, 3000));
    stage(id, people(3001, 3000));
    validate(id);
    run();
    BOOST_TEST(job(id).state == ImportState::Validated);
    BOOST_TEST(job(id).preview->new_members == 6000);
    BOOST_TEST(run() == 0);
    request_commit(id);
    run();
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(job(id).created_count == 6000);
    BOOST_TEST(members() == 6000);
    BOOST_TEST(run() == 0);
}

BOOST_AUTO_TEST_CASE(a_turn_that_ends_early_loses_no_row) {
    const ImportId id = staged(people(1, 60, 500));
    validate(id);
    const Deadline over(Milliseconds(0));
    for (int i = 0; i < 20; ++i) work.turn(over);
    run();
    BOOST_TEST(job(id).processed_rows == 60);
    request_commit(id);
    // On a busy machine a turn may notice the end of its time late and complete the job.
    for (int i = 0; i < 5 && job(id).state == ImportState::Committing; ++i) {
        work.turn(over);
        BOOST_TEST((job(id).attempts == 0 || job(id).state == ImportState::Completed));
    }
    run();
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(members() == 60);
}

BOOST_AUTO_TEST_CASE(two_runners_share_the_work_without_duplicates) {
    const ImportId id = staged(people(1, 5000));
    stage(id, people(5001, 5000));
    validate(id);
    const auto run_both = [&] {
        test::in_parallel(2, [&](int) {
            DatabaseContext own;
            DatabaseContext helper;
            jobs::ImportWork rival(own.context, {&helper.context});
            run(rival);
        });
    };
    run_both();
    BOOST_TEST(job(id).state == ImportState::Validated);
    request_commit(id);
    run_both();
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(job(id).created_count == 10'000);
    BOOST_TEST(job(id).processed_rows == 10'000);
    BOOST_TEST(members() == 10'000);
}

BOOST_AUTO_TEST_CASE(a_job_without_progress_fails_after_its_attempts) {
    const ImportId id = validated(people(1, 3));
    request_commit(id);
    int turns = 0;
    {
        // Every write fails for a reason that does not concern the row.
        const test::SchemaChange broken(client, "RENAME TABLE members TO members_hidden",
                                        "RENAME TABLE members_hidden TO members");
        while (job(id).state == ImportState::Committing && turns < 20) {
            client.run("UPDATE import_jobs SET lease_until = 0");  // the pause has ended
            turns += run(1);
        }
    }
    BOOST_TEST(turns == context.settings.jobs.attempts);
    BOOST_TEST(job(id).state == ImportState::Failed);
    BOOST_TEST(job(id).failure->code == "IMPORT_ATTEMPTS_EXHAUSTED");
    for (const auto& row : rows(id)) BOOST_TEST(row.state == rules::RowState::Valid);
    BOOST_TEST(members() == 0);
    (void)new_import();
}

BOOST_AUTO_TEST_CASE(an_attempt_that_made_progress_is_not_the_last_one) {
    const ImportId id = staged(people(1, 30, 500));
    validate(id);
    attempt_last(id, 20);
    BOOST_TEST(job(id).state == ImportState::Validating);
    BOOST_TEST(job(id).processed_rows == 10);
    for (int i = 0; i < context.settings.jobs.attempts; ++i) {
        BOOST_TEST(job(id).attempts == i);
        client.run("UPDATE import_jobs SET lease_until = 0");  // the pause has ended
        run(1);
    }
    BOOST_TEST(job(id).state == ImportState::Failed);

    const ImportId next = validated(people(1, 20, 500));
    request_commit(next);
    attempt_last(next, 10);
    BOOST_TEST(job(next).state == ImportState::Committing);
    BOOST_TEST(job(next).created_count == 10);
    BOOST_TEST(job(next).attempts == 0);
}

BOOST_AUTO_TEST_CASE(a_job_whose_runners_crash_also_fails) {
    const ImportId id = staged(people(1, 3));
    validate(id);
    for (int i = 0; i < context.settings.jobs.attempts; ++i) {
        client.run("UPDATE import_jobs SET lease_until = 0");
        (void)lease();
    }
    BOOST_TEST(job(id).attempts == context.settings.jobs.attempts);
    client.run("UPDATE import_jobs SET lease_until = 0");
    run();
    BOOST_TEST(job(id).state == ImportState::Failed);
}

BOOST_AUTO_TEST_CASE(a_database_outage_is_not_an_attempt_of_the_job) {
    const ImportId id = validated(people(1, 3));
    request_commit(id);
    auto away = test::connection_settings();
    away.urls = {"unix:/nowhere/mysql.sock"};
    DatabaseContext cut_off(away);
    jobs::ImportWork unlucky(context, {&cut_off.context});
    for (int i = 0; i < 10; ++i) {
        BOOST_CHECK_THROW(run(unlucky, 1), db::DbError);
        BOOST_TEST(job(id).attempts == 0);
        client.run("UPDATE import_jobs SET lease_until = 0");
    }
    BOOST_TEST(job(id).state == ImportState::Committing);
    run();
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(job(id).created_count == 3);
}

BOOST_AUTO_TEST_CASE(a_canceled_job_is_released_without_an_error) {
    const ImportId id = staged(people(1, 3));
    validate(id);
    (void)lease();
    client.run("UPDATE import_jobs SET lease_until = 0");
    cancel(id);
    BOOST_TEST(run() == 1);  // deletes its blocks
    BOOST_TEST(job(id).state == ImportState::Canceled);
    BOOST_TEST(rows(id).empty());
}

BOOST_AUTO_TEST_CASE(a_job_of_an_organization_that_was_disabled_loses_no_attempt) {
    const ImportId id = staged(people(1, 60));
    validate(id);
    run();
    request_commit(id);
    // Disables the organization within the unit, whose rollback enables it again.
    client.run(
        "CREATE TRIGGER disable_organization AFTER INSERT ON members FOR EACH ROW "
        "UPDATE organizations SET disabled_at = 1 WHERE id = NEW.organization_id");
    BOOST_TEST(run(1) == 1);
    BOOST_TEST(members() == 0);
    BOOST_TEST(job(id).attempts == 0);
    client.run("DROP TRIGGER disable_organization");
    run();
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(members() == 60);
}

BOOST_AUTO_TEST_CASE(blocks_of_canceled_jobs_are_deleted_between_the_turns_of_other_jobs) {
    cancel(staged(people(1, 50, 500)));
    const ImportId id = staged(people(1, 60, 500));
    validate(id);
    BOOST_TEST(run(1) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_blocks") == 90);
    BOOST_TEST(job(id).state == ImportState::Validated);
    BOOST_TEST(run() == 2);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_blocks") == 60);
}

BOOST_AUTO_TEST_CASE(after_a_turn_the_runner_looks_for_the_next_stage_more_often) {
    BOOST_TEST(jobs::import_work(context, {&first.context}).has_sequels);
    std::array<std::atomic<int>, 2> looks{};
    const auto works_once = [&](std::size_t kind) {
        return [&looks, kind](const Deadline&) { return ++looks[kind] == 1; };
    };
    const std::vector<jobs::Work> kinds = {
        {.name = "single", .turn = works_once(0)},
        {.name = "staged", .turn = works_once(1), .has_sequels = true}};
    BOOST_TEST(jobs::run(kinds, Deadline(Milliseconds(900))));
    BOOST_TEST(looks[1] > looks[0]);
}

BOOST_AUTO_TEST_CASE(the_purge_ends_when_no_expired_row_is_left) {
    const ImportId id = staged(people(1, 3));
    client.execute("UPDATE import_jobs SET expires_at = 1 WHERE id = ?", id);
    const auto once = jobs::purge_work(context, false);
    const auto daily = jobs::purge_work(context, true);
    BOOST_TEST(once.ends_when_idle);
    BOOST_TEST(!daily.ends_when_idle);
    BOOST_TEST(run(once) == 1);
    BOOST_TEST(run(daily) == 0);
    const ImportId next = staged(people(1, 3));
    client.execute("UPDATE import_jobs SET expires_at = 1 WHERE id = ?", next);
    BOOST_TEST(run(daily) == 0);  // the hourly purge looks again after its pause
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_jobs") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
