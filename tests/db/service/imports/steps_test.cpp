// service/imports/dry_run.hpp, commit.hpp: the steps of the runner may stop anywhere, run twice or
// lose their lease without changing the result.
#include "rules/attributes.hpp"
#include "service/imports/commit.hpp"
#include "service/imports/dry_run.hpp"

#include "db/imports.hpp"
#include "db/memory.hpp"
#include "rules/imports/block.hpp"
#include "service/attributes.hpp"

#include <array>
#include <set>

using namespace muster;
using rules::ImportState;
using rules::RowState;
using service::Lease;
using service::LeaseLost;
using test::ImportFixture;
using test::people;
using test::row;
using test::Tally;

namespace {

using Outcomes = std::map<std::int64_t, std::string>;

// Thirty blocks of three rows with some repeated addresses.
std::vector<service::NewRow> thirty_blocks() {
    std::vector<service::NewRow> rows;
    for (std::int64_t block = 0; block < 30; ++block) {
        for (std::int64_t i = 1; i <= 3; ++i) {
            const std::int64_t number = block * 500 + i;
            const std::int64_t person = i == 3 ? block % 7 : number;
            rows.push_back(row(number, "p" + std::to_string(person) + "@example.test"));
        }
    }
    return rows;
}

// The expected result of the dry run: the first row with an address is valid.
Outcomes expected_of(const std::vector<service::NewRow>& rows) {
    Outcomes expected;
    std::set<std::string> claimed;
    for (const auto& one : rows) {
        const bool is_new = claimed.insert(one.fields.email).second;
        expected[one.number] = is_new ? "valid" : "invalid ROW_DUPLICATE_IN_FILE";
    }
    return expected;
}

struct Work : ImportFixture {
    Work() {
        service::enable_attribute(context, acme, "shirt_size", true);
        service::enable_attribute(context, acme, "phone", true);
    }

    // Ends the lease: the next runner may take over.
    void expire_lease() { client.run("UPDATE import_jobs SET lease_until = 0"); }
    Lease take_over() {
        expire_lease();
        return lease();
    }

    // All columns except heartbeats and leases.
    std::map<std::string, std::string> lasting() {
        auto all = client.snapshot(acme);
        all["import_jobs"] = client.value(
            "SELECT CONCAT_WS('|', state, staged_rows, processed_rows, valid_rows, invalid_rows, "
            "created_count, attached_count, failed_count, preview_create, preview_attach, "
            "preview_merge, next_block, next_part) FROM import_jobs WHERE organization_id = ?",
            acme);
        all["users"] = client.value("SELECT COUNT(*) FROM users");
        return all;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_work, Work)

// ---------------------------------------------------------------------------- claiming

BOOST_AUTO_TEST_CASE(only_one_runner_gets_the_due_job) {
    BOOST_TEST(!service::claim_due_import(context, Uuid::v7()).has_value());
    BOOST_TEST(!service::is_another_import_due(context));
    const ImportId id = staged(people(1, 1));
    validate(id);
    BOOST_TEST(service::is_another_import_due(context));
    const Lease mine = lease();
    BOOST_TEST(mine.id == id);
    BOOST_TEST(mine.organization == acme);
    BOOST_TEST(!service::is_another_import_due(context));
    BOOST_TEST(!service::claim_due_import(context, Uuid::v7()).has_value());
    service::release_import(context, mine, service::AttemptPolicy::Count, Milliseconds(0));
    BOOST_TEST(job(id).attempts == 1);
    const Lease again = lease();
    service::release_import(context, again, service::AttemptPolicy::Forgive, Milliseconds(60'000));
    BOOST_TEST(job(id).attempts == 1);
    BOOST_TEST(!service::is_another_import_due(context));
}

BOOST_AUTO_TEST_CASE(a_failed_job_has_a_reason) {
    const ImportId id = staged(people(1, 1));
    validate(id);
    const Lease mine = lease();
    service::fail_import(context, {acme, id, Uuid::v7()}, ImportState::Validating, {"X", "x"});
    BOOST_TEST(job(id).state == ImportState::Validating);  // not its lease
    service::fail_import(context, mine, ImportState::Validating, {"CODE", "a sentence"});
    BOOST_TEST(job(id).state == ImportState::Failed);
    BOOST_TEST(job(id).failure->code == "CODE");
    BOOST_TEST(job(id).completed_at.has_value());
    (void)new_import();  // the slot is free
}

// ---------------------------------------------------------------------------- dry run

BOOST_AUTO_TEST_CASE(a_dry_run_validates_each_row_and_writes_no_member) {
    const ImportId id = validated({
        row(1, "a@x.test", R"({"shirt_size":"huge"})"),
        row(2, "a@x.test"),
        row(3, "b@x.test", R"({"shirt_size":"M","phone":"1"})"),
        row(4, "c@x.test", R"({"gender":"female"})"),
        row(5, "d@x.test", R"({"no.such.key":1})"),
        row(6, "e@x.test", R"({"phone":1})"),
        row(7, "b@x.test", R"({"no.such.key":1})"),
    });
    BOOST_TEST(outcomes(id) == (Outcomes{{1, "invalid ROW_ATTR_INVALID_VALUE"},
                                         {2, "invalid ROW_DUPLICATE_IN_FILE"},
                                         {3, "valid"},
                                         {4, "invalid ROW_ATTR_UNKNOWN_KEY"},
                                         {5, "invalid ROW_ATTR_UNKNOWN_KEY"},
                                         {6, "invalid ROW_ATTR_INVALID_VALUE"},
                                         {7, "invalid ROW_DUPLICATE_IN_FILE"}}));
    const auto validated_job = job(id);
    BOOST_TEST(validated_job.state == ImportState::Validated);
    BOOST_TEST(validated_job.valid_rows == 1);
    BOOST_TEST(validated_job.invalid_rows == 6);
    BOOST_TEST(validated_job.processed_rows == 7);
    BOOST_TEST(members() == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 0);
    for (const auto& one : rows(id, RowState::Invalid)) {
        const bool is_named = one.error_message.find("\"shirt_size\"") != std::string::npos;
        BOOST_TEST(is_named == (one.row_number == 1));
    }
}

BOOST_AUTO_TEST_CASE(a_job_without_rows_is_validated_and_completed) {
    const ImportId id = completed({});
    BOOST_TEST(job(id).state == ImportState::Completed);
    BOOST_TEST(job(id).processed_rows == 0);
}

BOOST_AUTO_TEST_CASE(a_dry_run_that_changes_runners_after_every_batch_has_the_same_result) {
    const auto all = thirty_blocks();
    const ImportId id = staged(all);
    validate(id);
    int hands = 0;
    for (bool more = true; more; ++hands) {
        const Lease mine = take_over();
        auto run = service::resume_dry_run(context, job(id));
        more = check_next(mine, run);
        if (!more) service::finish_dry_run(context, mine);
    }
    BOOST_TEST(hands > 3);
    BOOST_TEST(outcomes(id) == expected_of(all));
    const auto validated_job = job(id);
    BOOST_TEST(validated_job.processed_rows == 90);
    BOOST_TEST(validated_job.valid_rows + validated_job.invalid_rows == 90);
    BOOST_TEST(validated_job.preview->new_members == validated_job.valid_rows);
}

BOOST_AUTO_TEST_CASE(a_dry_run_may_stop_within_a_large_block) {
    const ImportId id = new_import();
    as(acme, [&](service::OrgTransaction& transaction) {
        std::vector<store::NewBlock> parts;
        for (int part = 0; part < 25; ++part) {
            const auto one = row(part + 1, "p" + std::to_string(part % 20) + "@example.test");
            std::string data;
            rules::append_row(data,
                              rules::staged_row(static_cast<std::uint32_t>(part + 1), one.fields));
            parts.push_back({{0, part}, 1, data});
        }
        db::OrgStore org(transaction.tx, acme);
        store::insert_blocks(org, id, parts, transaction.now);
        store::add_staged_rows(org, id, 25, 25, transaction.now);
    });
    validate(id);
    const Lease first = take_over();
    auto run = service::resume_dry_run(context, job(id));
    BOOST_TEST(check_next(first, run));
    BOOST_TEST(job(id).next_block.part > 0);
    check_rest(take_over());
    BOOST_TEST(tally(id) == (Tally{{"valid", 20}, {"invalid ROW_DUPLICATE_IN_FILE", 5}}));
}

BOOST_AUTO_TEST_CASE(a_batch_that_was_validated_but_not_recorded_is_validated_again) {
    const auto all = thirty_blocks();
    const ImportId id = staged(all);
    validate(id);
    {
        const Lease killed = lease();
        auto run = service::resume_dry_run(context, job(id));
        BOOST_TEST(check_next(killed, run));
        BOOST_TEST(service::validate_next(context, killed, run).has_value());
    }
    check_rest(take_over());
    BOOST_TEST(outcomes(id) == expected_of(all));
    BOOST_TEST(job(id).processed_rows == 90);
}

BOOST_AUTO_TEST_CASE(a_dry_run_that_lost_its_lease_changes_nothing) {
    const ImportId id = staged(thirty_blocks());
    validate(id);
    const Lease old = lease();
    auto run = service::resume_dry_run(context, job(id));
    const auto batch = service::validate_next(context, old, run);
    const auto preview = batch->preview(context, old, 0, 1);
    (void)take_over();
    const auto before = client.snapshot(acme);
    BOOST_CHECK_THROW(batch->record(context, old, preview), LeaseLost);
    BOOST_CHECK_THROW(service::finish_dry_run(context, old), LeaseLost);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(a_dry_run_of_a_canceled_job_changes_nothing) {
    const ImportId id = staged(thirty_blocks());
    validate(id);
    const Lease mine = lease();
    auto run = service::resume_dry_run(context, job(id));
    BOOST_TEST(check_next(mine, run));
    cancel(id);
    const auto before = client.snapshot(acme);
    BOOST_CHECK_THROW(check_next(mine, run), LeaseLost);
    BOOST_TEST(client.snapshot(acme) == before);
    const auto states = tally(id);
    BOOST_TEST(states.at("staged") > 0);  // validated and staged rows remain distinguishable
    BOOST_TEST(states.at("valid") > 0);
}

BOOST_AUTO_TEST_CASE(an_address_is_claimed_once) {
    service::ClaimedEmails claimed;
    claimed.reserve(10);
    BOOST_TEST(claimed.claim("a@x.test"));
    BOOST_TEST(!claimed.claim("a@x.test"));
    BOOST_TEST(claimed.claim("b@x.test"));
    BOOST_TEST(claimed.claim(""));
    BOOST_TEST(!claimed.claim(""));
    BOOST_TEST(claimed.size() == 3);
}

// ---------------------------------------------------------------------------- commit

BOOST_AUTO_TEST_CASE(a_commit_writes_only_the_valid_rows) {
    const ImportId id = completed({
        row(1, "a@x.test", R"({"phone":"1"})"),
        row(2, "a@x.test"),
        row(3, "b@x.test", R"({"phone":1})"),
        row(4, "c@x.test"),
    });
    BOOST_TEST(outcomes(id) == (Outcomes{{1, "created"},
                                         {2, "invalid ROW_DUPLICATE_IN_FILE"},
                                         {3, "invalid ROW_ATTR_INVALID_VALUE"},
                                         {4, "created"}}));
    const auto done = job(id);
    BOOST_TEST(done.state == ImportState::Completed);
    BOOST_TEST(done.created_count == 2);
    BOOST_TEST(done.attached_count == 0);
    BOOST_TEST(done.failed_count == 0);
    BOOST_TEST(done.processed_rows == 4);
    BOOST_TEST(done.completed_at.has_value());
    BOOST_TEST(members() == 2);
    for (const auto& one : rows(id, RowState::Created)) {
        BOOST_TEST_REQUIRE(one.user_id.has_value());
        BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE organization_id = ? "
                                 "AND user_id = ? AND ? LIKE CONCAT('%', email, '%')",
                                 acme, *one.user_id, one.payload) == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_commit_that_changes_runners_after_every_unit_completes) {
    const auto all = thirty_blocks();
    const ImportId id = validated(all);
    const auto valid = job(id).valid_rows;
    request_commit(id);
    int hands = 0;
    for (;; ++hands) {
        const Lease mine = take_over();
        const auto units = service::next_commit_units(context, mine, {}, 1);
        if (units.empty()) {
            service::complete_import(context, mine);
            break;
        }
        service::commit_unit(context, mine, units.front());
    }
    BOOST_TEST(hands >= 3);
    BOOST_TEST(job(id).created_count == valid);
    BOOST_TEST(job(id).processed_rows == 90);
    BOOST_TEST(members() == valid);
    BOOST_TEST(rows(id, RowState::Created).size() == static_cast<std::size_t>(valid));
}

BOOST_AUTO_TEST_CASE(a_unit_committed_twice_has_one_effect) {
    const ImportId id = validated(thirty_blocks());
    request_commit(id);
    const Lease mine = lease();
    const auto units = service::next_commit_units(context, mine, {}, 100);
    BOOST_TEST(units.size() == 3);
    for (const auto& transaction : units) service::commit_unit(context, mine, transaction);
    const auto once = lasting();
    for (const auto& transaction : units) service::commit_unit(context, mine, transaction);
    BOOST_TEST(lasting() == once);
    BOOST_TEST(service::next_commit_units(context, mine, {}, 100).empty());
}

BOOST_AUTO_TEST_CASE(importing_the_same_job_again_merges_and_changes_no_member) {
    completed(thirty_blocks());
    const auto before = client.snapshot(acme)["members"];
    const ImportId again = completed(thirty_blocks());
    BOOST_TEST(client.snapshot(acme)["members"] == before);
    BOOST_TEST(job(again).created_count == 0);
    BOOST_TEST(job(again).attached_count == job(again).valid_rows);
    BOOST_TEST(tally(again).count("created") == 0);
}

BOOST_AUTO_TEST_CASE(a_commit_holds_few_large_members_at_a_time,
                     *boost::unit_test::enable_if<test::kIsMemoryFreed>()) {
    completed(people(1, 60));
    enlarge_members();
    const auto with_phone = [&] {
        return client.number("SELECT COUNT(*) FROM members WHERE attributes LIKE '%\"phone\"%'");
    };
    auto all = people(1, 60);
    for (auto& one : all) one.fields.attributes = R"({"phone":"1"})";
    // The first one fills the attribute. The runner expects changed members, then unchanged ones.
    for (int i = 0; i < 3; ++i) {
        const ImportId id = validated(all);
        request_commit(id);
        BOOST_TEST(test::peak_bytes([&] { commit_rest(lease()); }) < 16 << 20);
        BOOST_TEST((tally(id) == Tally{{"merged", 60}}));
        BOOST_TEST(with_phone() == 60);
    }
}

BOOST_AUTO_TEST_CASE(a_block_with_large_members_ends_its_transaction) {
    completed(people(1, 2, 500));
    auto all = people(1, 2, 500);
    for (auto& one : all) one.fields.attributes = R"({"phone":"1"})";
    for (const bool is_large : {false, true}) {
        if (is_large) enlarge_members();
        const ImportId id = validated(all);
        request_commit(id);
        client.run(
            "UPDATE import_blocks SET data = 'damaged' WHERE block_no > 0 AND state <> 'committed'");
        const Lease running = lease();
        const auto units = service::next_commit_units(context, running, {}, 1);
        BOOST_TEST_REQUIRE(units.at(0).blocks.size() == 2U);
        BOOST_CHECK_THROW(service::commit_unit(context, running, units[0]), std::exception);
        // The transaction of the second block does not take the first one back.
        BOOST_TEST(job(id).processed_rows == (is_large ? 1 : 0));
        service::fail_import(context, running, ImportState::Committing, {"TEST", "Test."});
    }
}

BOOST_AUTO_TEST_CASE(a_commit_that_lost_its_lease_writes_nothing) {
    const ImportId id = validated(thirty_blocks());
    request_commit(id);
    const Lease old = lease();
    const auto units = service::next_commit_units(context, old, {}, 100);
    (void)take_over();
    const auto before = client.snapshot(acme);
    for (const auto& transaction : units) {
        BOOST_CHECK_THROW(service::commit_unit(context, old, transaction), LeaseLost);
    }
    BOOST_CHECK_THROW(service::complete_import(context, old), LeaseLost);
    BOOST_TEST(client.snapshot(acme) == before);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 0);
}

BOOST_AUTO_TEST_CASE(a_connection_killed_before_a_unit_loses_no_row) {
    const ImportId id = validated(thirty_blocks());
    request_commit(id);
    const Lease mine = lease();
    for (const auto& transaction : service::next_commit_units(context, mine, {}, 100)) {
        for (const std::string& session :
             client.column("SELECT id FROM information_schema.processlist "
                           "WHERE db = DATABASE() AND id <> CONNECTION_ID()")) {
            client.kill(std::stoll(session));
        }
        service::commit_unit(context, mine, transaction);
    }
    service::complete_import(context, mine);
    BOOST_TEST(members() == job(id).valid_rows);
    BOOST_TEST(job(id).created_count == job(id).valid_rows);
}

BOOST_AUTO_TEST_CASE(units_on_parallel_connections_have_the_same_result_as_in_sequence) {
    const ImportId id = validated(people(1, 12'000));
    request_commit(id);
    const Lease mine = lease();
    const auto units = service::next_commit_units(context, mine, {}, 100);
    BOOST_TEST(units.size() == 3);
    test::in_parallel(3, [&](int i) {
        test::DatabaseContext worker;
        service::commit_unit(worker.context, mine, units.at(i));
    });
    service::complete_import(context, mine);
    BOOST_TEST(job(id).created_count == 12'000);
    BOOST_TEST(job(id).processed_rows == 12'000);
    BOOST_TEST(members() == 12'000);
}

BOOST_AUTO_TEST_CASE(an_attribute_disabled_after_the_dry_run_fails_only_its_rows) {
    const ImportId id = validated({row(1, "a@x.test", R"({"phone":"1"})"), row(2, "b@x.test")});
    service::enable_attribute(context, acme, "phone", false);
    request_commit(id);
    commit_rest(lease());
    BOOST_TEST(outcomes(id) == (Outcomes{{1, "failed ROW_ATTR_UNKNOWN_KEY"}, {2, "created"}}));
    BOOST_TEST(job(id).failed_count == 1);
    BOOST_TEST(job(id).created_count == 1);
    BOOST_TEST(job(id).processed_rows == 2);
}

BOOST_AUTO_TEST_CASE(rows_that_the_database_rejects_fail_individually) {
    const test::SchemaChange refusing(
        client,
        "CREATE TRIGGER refuse BEFORE INSERT ON members FOR EACH ROW "
        "BEGIN IF NEW.first_name = 'refused' THEN SIGNAL SQLSTATE '45000'; END IF; END",
        "DROP TRIGGER refuse");
    auto all = people(1, 1200);
    const std::set<std::int64_t> refused = {1, 2, 250, 499, 500, 777, 1200};
    for (auto& one : all) {
        if (refused.contains(one.number)) one.fields.first_name = "refused";
    }
    const ImportId id = completed(all);
    for (const auto& [number, outcome] : outcomes(id)) {
        BOOST_TEST(outcome == (refused.contains(number) ? "failed ROW_WRITE_FAILED" : "created"),
                   number);
    }
    BOOST_TEST(job(id).failed_count == 7);
    BOOST_TEST(job(id).created_count == 1193);
    BOOST_TEST(members() == 1193);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 1193);
}

BOOST_AUTO_TEST_CASE(two_organizations_import_the_same_people_in_parallel) {
    const std::array organizations = {acme, organization("Other")};
    std::array<Lease, 2> leases;
    for (std::size_t i = 0; i < 2; ++i) {
        const OrgId organization = organizations.at(i);
        const ImportId id = new_import(organization);
        as(organization, [&](service::OrgTransaction& transaction) {
            service::stage_rows(transaction, context.settings.limits, id, people(1, 2000));
            service::validate_import(transaction, id);
        });
        const Lease checking = lease();
        auto run =
            service::resume_dry_run(context, *service::read_import(context, organization, id));
        while (check_next(checking, run)) continue;
        service::finish_dry_run(context, checking);
        as(organization, [&](service::OrgTransaction& transaction) {
            service::commit_import(transaction, id, {});
        });
        leases.at(i) = lease();
    }
    test::in_parallel(2, [&](int i) {
        test::DatabaseContext worker;
        const Lease& own = leases.at(i);
        for (const auto& transaction : service::next_commit_units(worker.context, own, {}, 100)) {
            service::commit_unit(worker.context, own, transaction);
        }
        service::complete_import(worker.context, own);
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 2000);
    BOOST_TEST(members() == 4000);
    BOOST_TEST(client.number("SELECT SUM(created_count) FROM import_jobs") == 2000);
    BOOST_TEST(client.number("SELECT SUM(attached_count) FROM import_jobs") == 2000);
}

BOOST_AUTO_TEST_SUITE_END()
