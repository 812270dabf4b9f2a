// store/imports/jobs.hpp: every transition checks the state that it leaves, and every step of the
// runner checks its lease.
#include "store/imports/jobs.hpp"

#include "db/imports.hpp"

#include <atomic>

using namespace muster;
using db::OrgStore;
using rules::ImportState;
using test::ImportFixture;
using test::in_parallel;

namespace {

constexpr std::array kStates = {ImportState::Staging,   ImportState::Validating,
                                ImportState::Validated, ImportState::Committing,
                                ImportState::Completed, ImportState::Failed,
                                ImportState::Canceled};
const Timestamp kNow = Timestamp::now();
const Timestamp kLater = kNow + Milliseconds(3'600'000);
const Timestamp kSoon = kNow + Milliseconds(1);

struct Store : ImportFixture {
    // Runs a call of the store in its own transaction.
    template <class Call>
    auto on_store(OrgId organization, const Call& call) {
        return database.transaction([&](db::Tx& tx) {
            OrgStore org(tx, organization);
            return call(org);
        });
    }
    template <class Call>
    auto on_store(const Call& call) {
        return on_store(acme, call);
    }

    void put(ImportState state, std::optional<Uuid> owner = std::nullopt, Timestamp until = {}) {
        client.execute(
            "UPDATE import_jobs SET state = ?, lease_owner = ?, lease_until = ? "
            "WHERE organization_id = ? AND id = ?",
            text_of(state), owner, until, acme, id);
    }

    static rules::ImportJob fresh() {
        rules::ImportJob job;
        job.id = ImportId::create();
        job.mapping = "{}";
        job.file_name = "f.csv";
        job.expires_at = kLater;
        job.created_at = job.updated_at = kNow;
        return job;
    }

    ImportId id = new_import();
    Uuid runner = Uuid::v7();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(store_imports, Store)

// ---------------------------------------------------------------------------- the record

BOOST_AUTO_TEST_CASE(a_job_is_read_as_it_was_written) {
    cancel(id);
    const auto admin = database.transaction([&](db::Tx& tx) {
        const auto made = AdminId::create();
        static constexpr db::SystemSql kInsert{
            "test.admin", db::Why{"an admin has no tenant"},
            "INSERT INTO admins (id, email, created_at) VALUES (?, 'a@b.c', 1)"};
        tx.execute(kInsert, made);
        return made;
    });
    auto written = fresh();
    written.created_by_id = admin;
    written.source = rules::ImportSource::Console;
    written.file_name = "Zo\u00eb \U0001f600.csv";
    written.declared_total = 250'000;
    BOOST_TEST(!on_store([&](OrgStore& org) { return store::insert_import(org, written); }));
    const auto read = job(written.id);
    BOOST_TEST(read.organization_id == acme);
    BOOST_TEST(read.created_by_id == admin);
    BOOST_TEST(read.source == rules::ImportSource::Console);
    BOOST_TEST(read.state == ImportState::Staging);
    BOOST_TEST(read.mapping == "{}");
    BOOST_TEST(read.file_name == written.file_name);
    BOOST_TEST(read.declared_total == 250'000);
    BOOST_TEST(read.staged_rows == 0);
    BOOST_TEST(!read.failure.has_value());
    BOOST_TEST(!read.preview.has_value());
    BOOST_TEST(!read.commit_requested);
    BOOST_TEST((read.next_block == rules::BlockKey{}));
    BOOST_TEST(read.attempts == 0);
    BOOST_TEST(!read.heartbeat_at.has_value());
    BOOST_TEST(!read.completed_at.has_value());
    BOOST_TEST(read.expires_at == kLater);
    BOOST_TEST(read.created_at == kNow);
    BOOST_TEST(read.updated_at == kNow);
}

BOOST_AUTO_TEST_CASE(a_preview_exists_after_the_dry_run_is_complete) {
    client.execute("UPDATE import_jobs SET staged_rows = 3, valid_rows = 2, invalid_rows = 0");
    for (const ImportState state : kStates) {
        put(state);
        const bool expected = state == ImportState::Validated || state == ImportState::Committing ||
                              state == ImportState::Completed;
        BOOST_TEST(job(id).preview.has_value() == expected, text_of(state));
    }
    client.execute("UPDATE import_jobs SET invalid_rows = 1");
    for (const ImportState state : {ImportState::Failed, ImportState::Canceled}) {
        put(state);
        BOOST_TEST(job(id).preview.has_value(), text_of(state));
    }
}

BOOST_AUTO_TEST_CASE(jobs_are_paged_newest_first) {
    std::vector<ImportId> ids{id};
    cancel(id);
    for (int i = 0; i < 4; ++i) {
        ids.insert(ids.begin(), new_import());
        if (i < 3) cancel(ids.front());
    }
    const auto page = [&](std::optional<ImportId> before, std::optional<ImportState> state,
                          int limit) {
        std::vector<ImportId> found;
        on_store([&](OrgStore& org) {
            for (const auto& job : store::page_imports(org, before, state, limit, kNow)) {
                found.push_back(job.id);
            }
        });
        return found;
    };
    BOOST_TEST(page({}, {}, 100) == ids);
    BOOST_TEST(page({}, {}, 2) == (std::vector{ids[0], ids[1]}));
    BOOST_TEST(page(ids[1], {}, 2) == (std::vector{ids[2], ids[3]}));
    BOOST_TEST(page(ids[4], {}, 2).empty());
    BOOST_TEST(page({}, ImportState::Staging, 9) == std::vector{ids[0]});
    BOOST_TEST(page(ids[2], ImportState::Canceled, 9) == (std::vector{ids[3], ids[4]}));
    BOOST_TEST(page({}, ImportState::Failed, 9).empty());
}

// ---------------------------------------------------------------------------- one active job

BOOST_AUTO_TEST_CASE(an_active_job_blocks_the_next_one_until_it_ends) {
    for (const ImportState state : kStates) {
        put(state);
        struct Undo {};
        const auto attempt = [&](db::Tx& tx) {
            OrgStore org(tx, acme);
            const auto active = store::insert_import(org, fresh());
            BOOST_TEST(active.has_value() == rules::is_active(state), text_of(state));
            if (active) BOOST_TEST(*active == id);
            throw Undo{};
        };
        BOOST_CHECK_THROW(database.transaction(attempt), Undo);
    }
}

BOOST_AUTO_TEST_CASE(twenty_parallel_creations_create_one_job_and_the_others_report_it) {
    cancel(id);
    constexpr int kThreads = 20;
    std::vector<std::optional<ImportId>> active(kThreads);
    std::vector<ImportId> own(kThreads);
    in_parallel(kThreads, [&](int i) {
        test::DatabaseContext worker;
        active[i] = worker.database.transaction([&](db::Tx& tx) {
            OrgStore org(tx, acme);
            const auto job = fresh();
            own[i] = job.id;
            return store::insert_import(org, job);
        });
    });
    BOOST_TEST(std::count(active.begin(), active.end(), std::nullopt) == 1);
    const auto winner = static_cast<std::size_t>(
        std::find(active.begin(), active.end(), std::nullopt) - active.begin());
    for (const auto& other : active) {
        if (other) BOOST_TEST(*other == own[winner]);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_jobs WHERE active_slot = 1") == 1);
}

BOOST_AUTO_TEST_CASE(an_active_job_does_not_block_another_organization) {
    const OrgId other = organization("Other");
    BOOST_TEST(!on_store(other, [&](OrgStore& org) { return store::insert_import(org, fresh()); }));
}

// ---------------------------------------------------------------------------- transitions

BOOST_AUTO_TEST_CASE(a_transition_happens_only_from_its_named_state) {
    for (const ImportState is : kStates) {
        for (const ImportState from : kStates) {
            for (const ImportState to : kStates) {
                put(is);
                const bool moved = on_store(
                    [&](OrgStore& org) { return store::move_import(org, id, from, to, kNow); });
                BOOST_TEST(moved == (is == from));
                BOOST_TEST(job(id).state == (is == from ? to : is));
            }
        }
    }
    BOOST_TEST(!on_store([&](OrgStore& org) {
        return store::move_import(org, ImportId::create(), ImportState::Staging,
                                  ImportState::Canceled, kNow);
    }));
}

BOOST_AUTO_TEST_CASE(a_transition_to_committing_counts_the_invalid_rows_as_processed) {
    client.execute(
        "UPDATE import_jobs SET state = 'validated', processed_rows = 10, valid_rows = 7, "
        "invalid_rows = 3, attempts = 2, next_block = 9, commit_requested = TRUE");
    on_store([&](OrgStore& org) {
        store::move_import(org, id, ImportState::Validated, ImportState::Committing, kNow);
    });
    const auto moved = job(id);
    BOOST_TEST(moved.processed_rows == 3);
    BOOST_TEST(moved.attempts == 0);
    BOOST_TEST((moved.next_block == rules::BlockKey{}));
    BOOST_TEST(!moved.commit_requested);
    BOOST_TEST(!moved.completed_at.has_value());
    BOOST_TEST(moved.updated_at == kNow);
}

BOOST_AUTO_TEST_CASE(a_canceled_job_has_ended) {
    on_store([&](OrgStore& org) {
        store::move_import(org, id, ImportState::Staging, ImportState::Canceled, kNow);
    });
    BOOST_TEST(job(id).completed_at == kNow);
}

BOOST_AUTO_TEST_CASE(only_a_job_in_staging_moves_to_validating) {
    for (const ImportState state : kStates) {
        for (const bool commit : {false, true}) {
            put(state);
            const bool moved = on_store([&](OrgStore& org) {
                return store::move_import_to_validating(org, id, commit, kNow);
            });
            BOOST_TEST(moved == (state == ImportState::Staging));
            if (!moved) continue;
            BOOST_TEST(job(id).state == ImportState::Validating);
            BOOST_TEST(job(id).commit_requested == commit);
        }
    }
}

BOOST_AUTO_TEST_CASE(only_a_job_in_staging_accepts_rows_up_to_the_limit) {
    const auto add = [&](int rows) {
        return on_store(
            [&](OrgStore& org) { return store::add_staged_rows(org, id, rows, 100, kNow); });
    };
    for (const ImportState state : kStates) {
        put(state);
        BOOST_TEST(add(1) == (state == ImportState::Staging), text_of(state));
    }
    put(ImportState::Staging);
    BOOST_TEST(job(id).staged_rows == 1);
    BOOST_TEST(!add(100));
    BOOST_TEST(add(99));
    BOOST_TEST(!add(1));
    BOOST_TEST(add(0));
    BOOST_TEST(job(id).staged_rows == 100);
}

// ---------------------------------------------------------------------------- leases

BOOST_AUTO_TEST_CASE(a_moving_job_without_a_valid_lease_is_due) {
    const auto due = [&] {
        return database.autocommit([&](db::Tx& tx) { return store::find_due_import(tx, kNow); });
    };
    for (const ImportState state : kStates) {
        put(state, {}, kNow);
        BOOST_TEST(due().has_value() == rules::is_in_progress(state), text_of(state));
        put(state, runner, kSoon);
        BOOST_TEST(!due().has_value(), text_of(state));
    }
    put(ImportState::Committing);
    const auto found = due();
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->id == id);
    BOOST_TEST(found->organization == acme);
    BOOST_TEST(found->state == ImportState::Committing);
}

BOOST_AUTO_TEST_CASE(the_job_that_waited_longest_is_due_first) {
    const OrgId other = organization("Other");
    const ImportId second = new_import(other);
    client.execute("UPDATE import_jobs SET state = 'validating', created_at = id = ?", second);
    const auto due = [&] {
        return database.autocommit([&](db::Tx& tx) { return store::find_due_import(tx, kNow); })
            ->id;
    };
    BOOST_TEST(due() == id);  // neither was processed: the older one
    client.execute("UPDATE import_jobs SET served_at = 5 WHERE id = ?", id);
    BOOST_TEST(due() == second);
    client.execute("UPDATE import_jobs SET served_at = 6 WHERE id = ?", second);
    BOOST_TEST(due() == id);
}

BOOST_AUTO_TEST_CASE(a_lease_is_claimed_once_and_again_after_it_expires) {
    const auto claim = [&](const Uuid& owner, Timestamp now) {
        return on_store([&](OrgStore& org) {
            return store::claim_import(org, id, owner, now, now + Milliseconds(10));
        });
    };
    for (const ImportState state : kStates) {
        put(state);
        BOOST_TEST(claim(runner, kNow) == rules::is_in_progress(state), text_of(state));
    }
    client.execute("UPDATE import_jobs SET attempts = 0");
    put(ImportState::Validating);
    const Uuid rival = Uuid::v7();
    BOOST_TEST(claim(runner, kNow));
    BOOST_TEST(!claim(rival, kNow + Milliseconds(9)));
    BOOST_TEST(!claim(runner, kNow + Milliseconds(9)));
    BOOST_TEST(claim(rival, kNow + Milliseconds(10)));
    BOOST_TEST(job(id).attempts == 2);
    BOOST_TEST(job(id).heartbeat_at == kNow + Milliseconds(10));
}

BOOST_AUTO_TEST_CASE(one_of_many_runners_gets_the_lease) {
    put(ImportState::Committing);
    std::atomic<int> claimed = 0;
    in_parallel(10, [&](int) {
        test::DatabaseContext worker;
        if (service::claim_due_import(worker.context, Uuid::v7())) ++claimed;
    });
    BOOST_TEST(claimed == 1);
}

BOOST_AUTO_TEST_CASE(a_lease_is_valid_only_for_its_owner_and_its_state) {
    const Uuid rival = Uuid::v7();
    const auto progress = [&](const Uuid& owner, ImportState state) {
        return on_store([&](OrgStore& org) {
            return store::add_import_progress(org, id, owner, state, {}, {}, kNow, kLater);
        });
    };
    for (const ImportState state : kStates) {
        put(state, runner);
        for (const ImportState named : kStates) {
            BOOST_TEST(progress(runner, named) == (state == named));
            BOOST_TEST(!progress(rival, named));
        }
    }
}

BOOST_AUTO_TEST_CASE(progress_accumulates_and_moves_the_cursor_if_given) {
    put(ImportState::Validating, runner);
    client.execute("UPDATE import_jobs SET attempts = 3");
    store::ImportProgress progress{1, 2, 3, 4, 5, 6, {7, 8}};
    const auto add = [&](std::optional<rules::BlockKey> next) {
        on_store([&](OrgStore& org) {
            store::add_import_progress(org, id, runner, ImportState::Validating, progress, next,
                                       kNow, kLater);
        });
    };
    add(rules::BlockKey{3, 2});
    add({});
    BOOST_TEST(client.number("SELECT lease_until FROM import_jobs") == kLater.milliseconds());
    put(ImportState::Completed);
    const auto read = job(id);
    BOOST_TEST(read.processed_rows == 2);
    BOOST_TEST(read.valid_rows == 4);
    BOOST_TEST(read.invalid_rows == 6);
    BOOST_TEST(read.created_count == 8);
    BOOST_TEST(read.attached_count == 10);
    BOOST_TEST(read.failed_count == 12);
    BOOST_TEST_REQUIRE(read.preview.has_value());
    BOOST_TEST(read.preview->new_members == 14);
    BOOST_TEST(read.preview->existing_members == 16);
    client.execute("UPDATE import_jobs SET preview_attach = 9");  // by a program of version 7
    BOOST_TEST(job(id).preview->new_members == 23);
    BOOST_TEST((read.next_block == rules::BlockKey{3, 2}));
    BOOST_TEST(read.attempts == 0);
    BOOST_TEST(read.heartbeat_at == kNow);
    BOOST_TEST(read.updated_at == kNow);
}

BOOST_AUTO_TEST_CASE(a_released_job_is_due_again_after_its_pause) {
    put(ImportState::Validating, runner, kLater);
    client.execute("UPDATE import_jobs SET attempts = 1");
    const auto release = [&](const Uuid& owner, bool forgive) {
        on_store(
            [&](OrgStore& org) { store::release_import(org, id, owner, forgive, kNow, kSoon); });
    };
    const auto due = [&](Timestamp now) {
        return database.autocommit([&](db::Tx& tx) { return store::find_due_import(tx, now); })
            .has_value();
    };
    release(Uuid::v7(), true);  // not its lease
    BOOST_TEST(!due(kSoon));
    release(runner, false);
    BOOST_TEST(!due(kNow));
    BOOST_TEST(due(kSoon));
    BOOST_TEST(job(id).attempts == 1);
    put(ImportState::Validating, runner, kLater);
    release(runner, true);
    BOOST_TEST(job(id).attempts == 0);
    put(ImportState::Validating, runner, kLater);
    release(runner, true);
    BOOST_TEST(job(id).attempts == 0);  // never negative
}

BOOST_AUTO_TEST_CASE(the_owner_of_the_lease_ends_the_job) {
    const auto finish = [&](const Uuid& owner, ImportState from, ImportState to,
                            std::optional<rules::ImportFailure> failure = std::nullopt) {
        return on_store([&](OrgStore& org) {
            return store::finish_import(org, id, owner, from, to, failure, kNow);
        });
    };
    put(ImportState::Validating, runner);
    BOOST_TEST(!finish(Uuid::v7(), ImportState::Validating, ImportState::Validated));
    BOOST_TEST(!finish(runner, ImportState::Committing, ImportState::Completed));
    BOOST_TEST(finish(runner, ImportState::Validating, ImportState::Validated));
    BOOST_TEST(job(id).state == ImportState::Validated);
    BOOST_TEST(!job(id).completed_at.has_value());
    BOOST_TEST(
        !finish(runner, ImportState::Validated, ImportState::Completed));  // the lease is released
    put(ImportState::Committing, runner);
    BOOST_TEST(finish(runner, ImportState::Committing, ImportState::Completed));
    BOOST_TEST(job(id).completed_at == kNow);
    BOOST_TEST(!job(id).failure.has_value());
    put(ImportState::Committing, runner);
    BOOST_TEST(finish(runner, ImportState::Committing, ImportState::Failed,
                      rules::ImportFailure{"CODE", "why"}));
    BOOST_TEST_REQUIRE(job(id).failure.has_value());
    BOOST_TEST(job(id).failure->code == "CODE");
    BOOST_TEST(job(id).failure->message == "why");
}

BOOST_AUTO_TEST_CASE(moving_jobs_are_counted_by_state) {
    const auto counts = [&] {
        return database.autocommit(
            [](db::Tx& tx) { return store::count_imports_in_progress(tx, kNow); });
    };
    BOOST_TEST(counts().empty());
    put(ImportState::Validating);
    const auto sign_of_life = [&](std::optional<int> heartbeat, int updated) {
        client.execute("UPDATE import_jobs SET heartbeat_at = ?, updated_at = ?", heartbeat,
                       updated);
        const auto one = counts();
        BOOST_TEST_REQUIRE(one.size() == 1);
        BOOST_TEST(one.front().state == ImportState::Validating);
        BOOST_TEST(one.front().jobs == 1);
        return one.front().oldest_heartbeat_ms;
    };
    BOOST_TEST(sign_of_life(77, 5) == 77);
    BOOST_TEST(sign_of_life(77, 99) == 99);
    BOOST_TEST(sign_of_life({}, 5) == 5);
    client.execute("UPDATE import_jobs SET expires_at = ?", kNow);
    BOOST_TEST(counts().empty());
}

// ---------------------------------------------------------------------------- retention

BOOST_AUTO_TEST_CASE(a_job_past_its_retention_is_not_found_before_the_purge) {
    const auto found = [&](Timestamp now) {
        return on_store([&](OrgStore& org) {
            const bool is_found = store::find_import(org, id, now).has_value();
            BOOST_TEST(store::lock_import(org, id, now).has_value() == is_found);
            BOOST_TEST(store::page_imports(org, {}, {}, 9, now).empty() != is_found);
            BOOST_TEST(store::page_imports(org, {}, ImportState::Validating, 9, now).empty() !=
                       is_found);
            return is_found;
        });
    };
    const auto is_due = [&](Timestamp now) {
        return database.autocommit([&](db::Tx& tx) { return store::find_due_import(tx, now); })
            .has_value();
    };
    put(ImportState::Validating);
    client.execute("UPDATE import_jobs SET expires_at = ?", kLater);
    const Timestamp before = kLater - Milliseconds(1);
    BOOST_TEST(found(before));
    BOOST_TEST(is_due(before));
    BOOST_TEST(!found(kLater));
    BOOST_TEST(!is_due(kLater));
}

BOOST_AUTO_TEST_CASE(an_active_job_past_its_retention_blocks_no_other) {
    client.execute("UPDATE import_jobs SET expires_at = ?", kNow);
    BOOST_TEST(!on_store([&](OrgStore& org) { return store::insert_import(org, fresh()); }));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_jobs WHERE active_slot = 1") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
