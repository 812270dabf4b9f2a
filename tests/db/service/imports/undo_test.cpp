// service/imports/undo.hpp: an undo takes back exactly what the import wrote and was not
// changed since, once, whatever interrupts it.
#include "service/imports/undo.hpp"

#include "db/imports.hpp"
#include "db/memory.hpp"
#include "rules/imports/block.hpp"
#include "service/failure.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "store/imports/undo.hpp"
#include "store/members/members.hpp"

using namespace muster;
using rules::ImportState;
using rules::ImportUndo;
using rules::RowState;
using service::UndoMode;
using test::ImportFixture;
using test::people;
using test::row;

namespace {

// More than a piece of members needs, with the buffers of its query and its changes.
constexpr std::int64_t kFewMembers = std::int64_t{24} << 20U;

using Outcomes = std::map<std::int64_t, std::string>;
using Lines = std::vector<std::string>;

struct Undo : ImportFixture {
    rules::ImportJob undo(ImportId id, UndoMode mode = UndoMode::Undo) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::undo_import(transaction, id, mode);
        });
    }
    ImportUndo predicted(ImportId id) { return *undo(id, UndoMode::Predict).undo; }
    // A committed import of 20,000 people.
    ImportId completed_large() {
        const ImportId id = new_import();
        for (int i = 0; i < 5; ++i) stage(id, people(1 + i * 4000, 4000));
        validate(id);
        check_rest(lease());
        request_commit(id);
        commit_rest(lease());
        return id;
    }
    void undo_rest(const service::Lease& held) {
        for (const auto& unit : service::next_undo_units(context, held, {}, 1000)) {
            service::undo_unit(context, held, unit);
        }
        service::complete_undo(context, held);
    }
    void undo_all(ImportId id) {
        undo(id);
        undo_rest(lease());
    }

    UserId create(const std::string& email, const std::string& first_name = "",
                  const std::string& attributes = "", std::optional<OrgId> organization = {}) {
        rules::MemberFields fields;
        fields.email = email;
        fields.first_name = first_name;
        fields.attributes = attributes;
        return as(organization.value_or(acme), [&](service::OrgTransaction& transaction) {
            return service::create_member(transaction, fields).member.user_id;
        });
    }
    UserId user(const std::string& email) {
        return database.autocommit([&](db::Tx& tx) {
            const std::string_view asked = email;
            const auto found = store::find_users(tx, {&asked, 1}, store::UserLock::None);
            BOOST_TEST_REQUIRE(found.size() == 1U);
            return found.begin()->second;
        });
    }
    void change(const std::string& email, const std::string& first_name,
                const std::string& attributes = "") {
        rules::MemberPatch patch;
        if (!first_name.empty()) patch.texts[1] = first_name;
        patch.attributes = attributes;
        as(acme, [&](service::OrgTransaction& transaction) {
            service::change_member(transaction, user(email), patch, [](const rules::Member&) {});
        });
    }
    void set_names(std::vector<service::NewRow>& all, const std::string& name) {
        for (auto& at : all) at.fields.first_name = name;
    }
    // The members of the organization except the times of their last change.
    Lines stored() {
        return client.column(
            "SELECT CONCAT_WS('|', HEX(user_id), HEX(id), email, external_id, first_name, "
            "last_name, display_name, locale, country, dob, JSON_MERGE_PATCH(attributes, '{}'), "
            "status, created_at) FROM members WHERE organization_id = ? ORDER BY user_id",
            acme);
    }
    // Adds copies of a committed block, as of a job with a row in each block.
    void copy_block(ImportId id, int block, int first, int count) {
        client.execute(
            "INSERT INTO import_blocks (organization_id, job_id, block_no, part, state, row_count, "
            "created_count, attached_count, staged_at, updated_at, data, outcome) "
            "SELECT organization_id, job_id, ? + seq, part, state, row_count, created_count, "
            "attached_count, staged_at, updated_at, data, outcome FROM import_blocks JOIN " +
                test::sequence(count) + " WHERE job_id = ? AND block_no = ?",
            first - 1, id, block);
        client.execute(
            "UPDATE import_jobs SET created_count = (SELECT SUM(created_count) FROM import_blocks "
            "WHERE job_id = ?), attached_count = (SELECT SUM(attached_count) FROM import_blocks "
            "WHERE job_id = ?) WHERE id = ?",
            id, id, id);
    }
    void enable_attributes() {
        client.execute("UPDATE attributes SET enabled = 1 WHERE attribute_key = 'phone'");
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_undo, Undo)

BOOST_AUTO_TEST_CASE(new_members_are_removed_and_attached_ones_detached) {
    const OrgId other = organization("Other");
    create("m2@example.test", "", "", other);
    create("kept@example.test");
    const auto before = stored();
    const ImportId id = completed(people(1, 3));
    BOOST_TEST(stored() != before);
    undo_all(id);
    BOOST_TEST(stored() == before);
    BOOST_TEST((outcomes(id) == Outcomes{{1, "removed"}, {2, "detached"}, {3, "removed"}}));
    BOOST_TEST((job(id).state == ImportState::Undone));
    BOOST_TEST(job(id).undo->removed == 2);
    BOOST_TEST(job(id).undo->detached == 1);
    BOOST_TEST(job(id).undo->rows() == 3);
    BOOST_TEST(job(id).processed_rows == 3);
    BOOST_TEST(job(id).created_count == 2);
    BOOST_TEST(job(id).completed_at.has_value());
    BOOST_TEST(members() == 2);  // also the member of the other organization
}

BOOST_AUTO_TEST_CASE(filled_values_are_emptied_and_the_time_of_change_moves) {
    enable_attributes();
    create("m1@example.test", "Ann");
    create("m2@example.test");
    create("m3@example.test", "Cyd", R"({"phone":"1"})");
    const auto before = stored();
    auto all = people(1, 3);
    set_names(all, "Imported");
    for (auto& at : all) at.fields.attributes = R"({"phone":"2"})";
    const ImportId id = completed(all);
    const auto time = [&] {
        return client.number("SELECT updated_at FROM members WHERE email = 'm2@example.test'");
    };
    const auto imported_at = time();
    undo_all(id);
    BOOST_TEST(stored() == before);
    BOOST_TEST((outcomes(id) == Outcomes{{1, "emptied"}, {2, "emptied"}, {3, "merged"}}));
    BOOST_TEST(time() > imported_at);
    BOOST_TEST(job(id).undo->emptied == 2);
    BOOST_TEST(job(id).undo->unaffected == 1);
}

BOOST_AUTO_TEST_CASE(changed_locked_active_and_removed_members_are_left_alone) {
    const ImportId id = completed(people(1, 6));
    change("m1@example.test", "Ann");
    as(acme, [&](service::OrgTransaction& transaction) {
        service::lock_member(transaction, user("m2@example.test"), std::nullopt);
    });
    as(acme, [&](service::OrgTransaction& transaction) {
        service::remove_member(transaction, user("m3@example.test"));
    });
    as(acme, [&](service::OrgTransaction& transaction) {
        service::remove_member(transaction, user("m4@example.test"));
    });
    create("m4@example.test");
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, occurred_at, "
        "received_at) SELECT organization_id, id, id, 'a', '[]', 1, 1 FROM members "
        "WHERE email = 'm5@example.test'");
    const ImportUndo dry = predicted(id);
    BOOST_TEST((job(id).state == ImportState::Completed));
    undo_all(id);
    BOOST_TEST((outcomes(id) == Outcomes{{1, "kept ROW_CHANGED_SINCE"},
                                         {2, "kept ROW_CHANGED_SINCE"},
                                         {3, "created"},
                                         {4, "created"},
                                         {5, "kept ROW_HAS_EVENTS"},
                                         {6, "removed"}}));
    for (const ImportUndo& counts : {dry, *job(id).undo}) {
        BOOST_TEST(counts.removed == 1);
        BOOST_TEST(counts.kept == 3);
        BOOST_TEST(counts.unaffected == 2);
        BOOST_TEST(!counts.is_estimate);
    }
    BOOST_TEST(members() == 4);
    Lines errors;
    for (const auto& entry : job(id).errors) {
        errors.push_back(std::string(text_of(entry.error)) + " " + entry.field);
    }
    std::sort(errors.begin(), errors.end());
    BOOST_TEST(errors == (Lines{"ROW_CHANGED_SINCE first_name", "ROW_CHANGED_SINCE status",
                                "ROW_HAS_EVENTS "}));
}

BOOST_AUTO_TEST_CASE(the_newer_import_undone_first_restores_the_state_before_both) {
    create("m1@example.test");
    const auto before = stored();
    const ImportId first = completed(people(1, 4));
    auto all = people(1, 4);
    set_names(all, "Later");
    const ImportId second = completed(all);
    undo_all(second);
    BOOST_TEST(job(second).undo->emptied == 4);
    undo_all(first);
    BOOST_TEST(job(first).undo->removed == 3);
    BOOST_TEST(job(first).undo->unaffected == 1);
    BOOST_TEST(stored() == before);
}

BOOST_AUTO_TEST_CASE(the_older_import_undone_first_keeps_what_the_newer_one_changed) {
    const ImportId first = completed(people(1, 4));
    auto all = people(1, 2);
    set_names(all, "Later");
    const ImportId second = completed(all);
    undo_all(first);
    BOOST_TEST(job(first).undo->removed == 2);
    BOOST_TEST(job(first).undo->kept == 2);
    undo_all(second);
    BOOST_TEST(job(second).undo->emptied == 2);
    BOOST_TEST(members() == 2);
}

BOOST_AUTO_TEST_CASE(a_unit_is_undone_once_and_a_lost_lease_changes_nothing) {
    const ImportId id = completed(people(1, 2500));
    undo(id);
    const auto held = lease();
    const auto units = service::next_undo_units(context, held, {}, 1000);
    BOOST_TEST(units.size() == 3U);
    service::undo_unit(context, held, units[0]);
    service::undo_unit(context, held, units[0]);
    BOOST_TEST(job(id).undo->removed == 1000);
    BOOST_TEST(members() == 1500);
    client.run("UPDATE import_jobs SET lease_until = 0");
    const auto next = lease();
    BOOST_CHECK_THROW(service::undo_unit(context, held, units[1]), service::LeaseLost);
    BOOST_TEST(members() == 1500);
    undo_rest(next);
    BOOST_TEST(members() == 0);
    BOOST_TEST(job(id).undo->removed == 2500);
    BOOST_TEST(job(id).processed_rows == 2500);
}

BOOST_AUTO_TEST_CASE(an_undo_that_failed_can_be_requested_again) {
    const ImportId id = completed(people(1, 1500));
    undo(id);
    const auto held = lease();
    service::undo_unit(context, held, service::next_undo_units(context, held, {}, 1).front());
    service::fail_import(context, held, ImportState::Undoing, {"IMPORT_ATTEMPTS_EXHAUSTED", "why"});
    BOOST_TEST((job(id).state == ImportState::Failed));
    BOOST_TEST(predicted(id).removed == 1500);
    undo_all(id);
    BOOST_TEST((job(id).state == ImportState::Undone));
    BOOST_TEST(!job(id).failure);
    BOOST_TEST(job(id).undo->removed == 1500);
    BOOST_TEST(job(id).processed_rows == 1500);
}

BOOST_AUTO_TEST_CASE(an_undo_waits_for_the_active_import_and_is_one_itself) {
    const ImportId id = completed(people(1, 3));
    const ImportId active = new_import();
    const auto error = test::error_of([&] { undo(id); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST((error->code() == ErrorCode::ImportJobActiveExists));
    BOOST_TEST(predicted(id).removed == 3);
    cancel(active);
    undo(id);
    BOOST_TEST((test::code_of([&] { new_import(); }) == ErrorCode::ImportJobActiveExists));
    BOOST_TEST((test::code_of([&] { undo(id); }) == ErrorCode::ImportJobInvalidState));
    undo_rest(lease());
    BOOST_TEST((test::code_of([&] { undo(id); }) == ErrorCode::ImportJobInvalidState));
    BOOST_TEST((test::code_of([&] { predicted(id); }) == ErrorCode::ImportJobInvalidState));
    new_import();
}

BOOST_AUTO_TEST_CASE(only_a_job_that_may_have_written_members_can_be_undone) {
    BOOST_TEST((test::code_of([&] { undo(ImportId::create()); }) == ErrorCode::NotFound));
    BOOST_TEST((test::code_of([&] { predicted(ImportId::create()); }) == ErrorCode::NotFound));
    const ImportId id = validated(people(1, 3));
    BOOST_TEST((test::code_of([&] { undo(id); }) == ErrorCode::ImportJobInvalidState));
    cancel(id);
    BOOST_TEST((test::code_of([&] { undo(id); }) == ErrorCode::ImportJobInvalidState));
}

BOOST_AUTO_TEST_CASE(the_counts_of_a_large_job_are_estimated) {
    const ImportUndo counts = predicted(completed_large());
    BOOST_TEST(counts.is_estimate);
    BOOST_TEST(counts.removed == 20'000);
}

BOOST_AUTO_TEST_CASE(a_dry_run_knows_how_many_rows_of_an_ordered_file_were_attached) {
    // 300 people of another organization in a row, near the end of the file.
    const OrgId other = organization("Other");
    for (int i = 18'001; i <= 18'300; ++i)
        create("m" + std::to_string(i) + "@example.test", "", "", other);
    const ImportUndo counts = predicted(completed_large());
    BOOST_TEST(counts.detached == 300);
    BOOST_TEST(counts.removed == 19'700);
    BOOST_TEST(counts.is_estimate);
}

BOOST_AUTO_TEST_CASE(the_total_of_a_job_with_many_blocks_is_exact) {
    const ImportId id = completed(people(1, 1));
    copy_block(id, 0, 1, 5999);
    BOOST_TEST(predicted(id).removed == 6000);
    BOOST_TEST(predicted(id).is_estimate);
    undo(id);
    const auto held = lease();
    service::undo_unit(context, held, service::next_undo_units(context, held, {}, 1).front());
    service::fail_import(context, held, ImportState::Undoing, {"IMPORT_ATTEMPTS_EXHAUSTED", "why"});
    BOOST_TEST(predicted(id).rows() == 6000);
}

BOOST_AUTO_TEST_CASE(a_dry_run_estimates_the_kinds_of_rows_in_many_blocks) {
    create("m501@example.test", "", "", organization("Other"));
    const ImportId id = completed(people(1, 2, 500));
    copy_block(id, 0, 2, 5500);
    copy_block(id, 1, 5502, 500);
    const ImportUndo counts = predicted(id);
    BOOST_TEST(counts.detached > 400);
    BOOST_TEST(counts.detached < 600);
    BOOST_TEST(counts.removed + counts.detached == 6002);
}

BOOST_AUTO_TEST_CASE(a_dry_run_examines_blocks_all_over_a_job_with_many_blocks) {
    const ImportId id = completed(people(1, 2, 500));
    change("m501@example.test", "Ann");
    copy_block(id, 0, 2, 5000);
    copy_block(id, 1, 5002, 5000);
    const ImportUndo counts = predicted(id);
    BOOST_TEST(counts.is_estimate);
    BOOST_TEST(counts.rows() == 10'002);
    BOOST_TEST(counts.kept > 3'000);
    BOOST_TEST(counts.kept < 7'000);
}

BOOST_AUTO_TEST_CASE(a_dry_run_reads_some_of_many_large_members) {
    const OrgId other = organization("Other");
    for (int i = 51; i <= 60; ++i) create("m" + std::to_string(i) + "@example.test", "", "", other);
    const ImportId id = completed(people(1, 60));
    BOOST_TEST(!predicted(id).is_estimate);
    client.execute(
        "UPDATE members m JOIN users u ON u.id = m.user_id "
        "SET m.attributes = JSON_OBJECT('k', REPEAT('x', 400000)) "
        "WHERE u.email LIKE 'm_@%' OR u.email < 'm51'");
    const ImportUndo counts = predicted(id);
    BOOST_TEST(counts.is_estimate);
    BOOST_TEST(counts.kept == 50);
    BOOST_TEST(counts.detached == 10);  // not read
}

BOOST_AUTO_TEST_CASE(a_dry_run_holds_few_large_members_also_after_small_ones,
                     *boost::unit_test::enable_if<test::kIsMemoryFreed>()) {
    const ImportId id = completed(people(101, 175));
    enlarge_members("email > 'm176'");  // the last 100
    ImportUndo counts;
    BOOST_TEST(test::peak_bytes([&] { counts = predicted(id); }) < kFewMembers);
    BOOST_TEST(counts.is_estimate);
    BOOST_TEST(counts.removed == 164);  // 75 of the 80 that were read
    BOOST_TEST(counts.kept == 11);
}

BOOST_AUTO_TEST_CASE(an_undo_holds_few_large_members_at_a_time,
                     *boost::unit_test::enable_if<test::kIsMemoryFreed>()) {
    completed(people(1, 50));
    enlarge_members();
    auto all = people(1, 100);
    set_names(all, "Ann");
    const ImportId id = completed(all);
    enlarge_members("attributes = '{}' AND email < 'm75'");  // m51 to m74, and m100
    undo(id);
    BOOST_TEST(test::peak_bytes([&] { undo_rest(lease()); }) < kFewMembers);
    BOOST_TEST((tally(id) ==
                test::Tally{{"emptied", 50}, {"kept ROW_CHANGED_SINCE", 25}, {"removed", 25}}));
    BOOST_TEST(job(id).undo->emptied == 50);
    BOOST_TEST(job(id).undo->kept == 25);
    BOOST_TEST(job(id).undo->removed == 25);
    BOOST_TEST(members() == 75);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE first_name IS NULL") == 50);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE LENGTH(attributes) > 800000") ==
               75);
}

BOOST_AUTO_TEST_CASE(an_undo_of_small_members_takes_few_statements) {
    const ImportId id = completed(people(1, 500));
    undo(id);
    const auto held = lease();
    const auto units = service::next_undo_units(context, held, {}, 1000);
    service::reset_database_cost();
    service::undo_unit(context, held, units.front());
    // START, seven for the block and its members, the progress, the counts and COMMIT.
    BOOST_TEST(service::database_cost().statements == 11);
    BOOST_TEST(members() == 0);
}

BOOST_AUTO_TEST_CASE(a_dry_run_reads_some_of_many_large_blocks) {
    const ImportId id = new_import();
    const std::string unknown = R"({"k":")" + std::string(390'000, 'x') + "\"}";
    for (int block = 0; block < 12; ++block) {
        auto rows = people(1 + block * 500, 11);
        for (std::size_t i = 1; i < rows.size(); ++i) rows[i].fields.attributes = unknown;
        stage(id, rows);
    }
    validate(id);
    check_rest(lease());
    request_commit(id);
    commit_rest(lease());
    const ImportUndo counts = predicted(id);
    BOOST_TEST(counts.is_estimate);
    BOOST_TEST(counts.removed == 12);
}

BOOST_AUTO_TEST_CASE(a_merge_of_an_older_program_is_kept) {
    create("m1@example.test");
    auto all = people(1, 2);
    set_names(all, "Ann");
    const ImportId id = completed(all);
    database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        const auto block = store::read_block(org, id, {0, 0});
        auto outcomes = rules::decode_outcomes(block->outcome, 2);
        outcomes[0].filled.reset();
        store::write_outcome(org, id, {0, 0}, store::BlockState::Committed, outcomes,
                             Timestamp::now());
    });
    undo_all(id);
    BOOST_TEST((outcomes(id) == Outcomes{{1, "kept ROW_NOT_RECORDED"}, {2, "removed"}}));
}

BOOST_AUTO_TEST_SUITE_END()
