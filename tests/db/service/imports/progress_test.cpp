// What a job reports while it is processed: the counts of rows by error, when its state began, and
// its place in the queue. Then the pages of the list of jobs.
#include "db/imports.hpp"

#include <algorithm>

using namespace muster;
using rules::ImportState;
using rules::RowError;
using test::ImportFixture;
using test::people;
using test::row;

namespace {

struct Progress : ImportFixture {
    // "ROW_DUPLICATE_IN_FILE email 2", the most frequent first.
    std::vector<std::string> errors(ImportId id) {
        std::vector<std::string> all;
        for (const rules::ErrorCount& entry : job(id).errors) {
            all.push_back(std::string(text_of(entry.error)) + " " + entry.field + " " +
                          std::to_string(entry.count));
        }
        return all;
    }
    std::int64_t sum_of_errors(ImportId id) {
        std::int64_t sum = 0;
        for (const rules::ErrorCount& entry : job(id).errors) sum += entry.count;
        return sum;
    }
    void set_phone_enabled(bool enabled) {
        client.execute("UPDATE attributes SET enabled = ? WHERE attribute_key = 'phone'",
                       enabled ? 1 : 0);
    }
    // Jobs of other organizations that wait for the runner.
    std::vector<ImportId> waiting(int count) {
        std::vector<ImportId> ids;
        for (int i = 0; i < count; ++i) {
            const OrgId other = organization("Other " + std::to_string(++organizations));
            ids.push_back(new_import(other));
            as(other, [&](service::OrgTransaction& transaction) {
                service::validate_import(transaction, ids.back());
            });
        }
        return ids;
    }
    int organizations = 0;
};

using Texts = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_progress, Progress)

BOOST_AUTO_TEST_CASE(a_dry_run_counts_invalid_rows_by_error_and_field) {
    auto all = people(1, 5100);
    all[1].fields.email = all[2].fields.email = all[0].fields.email;
    all[3].fields.attributes = all[5050].fields.attributes = all[5060].fields.attributes =
        R"({"hobby":"chess"})";
    const ImportId id = new_import();
    stage(id, {all.begin(), all.begin() + 5000});
    stage(id, {all.begin() + 5000, all.end()});
    BOOST_TEST(errors(id).empty());
    validate(id);
    check_rest(lease());
    BOOST_TEST(errors(id) ==
               (Texts{"ROW_ATTR_UNKNOWN_KEY attributes.hobby 3", "ROW_DUPLICATE_IN_FILE email 2"}));
    BOOST_TEST(sum_of_errors(id) == job(id).invalid_rows);
}

BOOST_AUTO_TEST_CASE(rows_that_fail_in_the_commit_are_added_to_the_counts) {
    set_phone_enabled(true);
    auto all = people(1, 4);
    all[1].fields.email = all[0].fields.email;
    all[2].fields.attributes = R"({"phone":"1"})";
    const ImportId id = validated(all);
    set_phone_enabled(false);
    request_commit(id);
    commit_rest(lease());
    BOOST_TEST(errors(id) ==
               (Texts{"ROW_DUPLICATE_IN_FILE email 1", "ROW_ATTR_UNKNOWN_KEY attributes.phone 1"}));
    BOOST_TEST(sum_of_errors(id) == job(id).invalid_rows + job(id).failed_count);
}

BOOST_AUTO_TEST_CASE(any_keys_make_a_bounded_number_of_counts) {
    auto all = people(1, 500);
    for (auto& one : all) {
        one.fields.attributes = R"({"k)" + std::to_string(one.number) + R"(":1})";
    }
    const ImportId id = validated(all);
    BOOST_TEST(errors(id).size() == rules::ErrorCounts::kMostFields + 1);
    BOOST_TEST(errors(id).front() == "ROW_ATTR_UNKNOWN_KEY  480");
    BOOST_TEST(sum_of_errors(id) == 500);
}

BOOST_AUTO_TEST_CASE(a_runner_without_the_lease_counts_no_errors) {
    auto all = people(1, 2);
    all[1].fields.email = all[0].fields.email;
    const ImportId id = staged(all);
    validate(id);
    const auto lost = lease();
    auto run = service::resume_dry_run(context, job(id));
    const auto batch = service::validate_next(context, lost, run);
    client.run("UPDATE import_jobs SET lease_until = 0");
    const auto taken = lease();
    BOOST_CHECK_THROW(batch->record(context, lost, {}), service::LeaseLost);
    BOOST_TEST(errors(id).empty());
    check_rest(taken);
    BOOST_TEST(errors(id) == (Texts{"ROW_DUPLICATE_IN_FILE email 1"}));
}

BOOST_AUTO_TEST_CASE(each_state_has_the_time_when_it_began) {
    const ImportId id = staged(people(1, 2));
    BOOST_TEST((job(id).phase_started_at == job(id).created_at));
    const auto started = [&] {
        const auto at = job(id).phase_started_at;
        BOOST_TEST_REQUIRE(at.has_value());
        client.run("DELETE FROM import_progress");
        BOOST_TEST(!job(id).phase_started_at.has_value());
        return *at;
    };
    Timestamp last = started();
    const auto later = [&] {
        const Timestamp at = started();
        const bool is_later = at >= last;
        last = at;
        return is_later;
    };
    validate(id);
    BOOST_TEST(later());
    check_rest(lease());
    BOOST_TEST(later());
    request_commit(id);
    BOOST_TEST(later());
    commit_rest(lease());
    BOOST_TEST(later());
    const ImportId canceled = staged(people(1, 2));
    cancel(canceled);
    BOOST_TEST((job(canceled).phase_started_at == job(canceled).completed_at));
}

BOOST_AUTO_TEST_CASE(a_waiting_job_has_a_place_in_the_queue) {
    const ImportId id = staged(people(1, 2));
    BOOST_TEST(!job(id).queue_position.has_value());
    const auto others = waiting(2);
    validate(id);
    client.execute(
        "UPDATE import_jobs SET created_at = created_at - 60000 WHERE organization_id <> ?", acme);
    BOOST_TEST(job(id).queue_position == 3);
    // The runner takes the first one, so it no longer waits.
    const auto first = lease();
    BOOST_TEST((first.id == others[0] || first.id == others[1]));
    BOOST_TEST(job(id).queue_position == 2);
    service::finish_dry_run(context, first);
    service::finish_dry_run(context, lease());
    BOOST_TEST(job(id).queue_position == 1);
    const auto own = lease();
    BOOST_TEST(job(id).queue_position == 0);
    service::release_import(context, own, service::AttemptPolicy::Forgive, Milliseconds(0));
    BOOST_TEST(job(id).queue_position == 1);
    check_rest(lease());
    BOOST_TEST(!job(id).queue_position.has_value());
}

BOOST_AUTO_TEST_CASE(places_beyond_the_limit_are_not_counted) {
    const ImportId id = staged(people(1, 2));
    waiting(101);
    validate(id);
    client.execute(
        "UPDATE import_jobs SET created_at = created_at - 60000 WHERE organization_id <> ?", acme);
    BOOST_TEST(job(id).queue_position == 100);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct ImportList : ImportFixture {
    using Ids = std::vector<ImportId>;

    // Newest first. All but the last one are canceled.
    Ids create(int count) {
        Ids ids;
        for (int i = 0; i < count; ++i) {
            if (i > 0) cancel(ids.back());
            ids.push_back(new_import());
        }
        std::reverse(ids.begin(), ids.end());
        return ids;
    }
    // All pages; each is full except the last one.
    Ids list(int limit, std::optional<ImportState> state = std::nullopt) {
        Ids ids;
        std::optional<ImportId> before;
        do {
            const auto page = service::list_imports(context, acme, before, state, limit);
            for (const auto& job : page.jobs) ids.push_back(job.id);
            if (page.next) BOOST_TEST(static_cast<int>(page.jobs.size()) == limit);
            before = page.next;
        } while (before);
        return ids;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(imports_list, ImportList)

BOOST_AUTO_TEST_CASE(pages_of_any_length_have_each_job_once) {
    const Ids ids = create(51);
    for (const int limit : {1, 24, 25, 26, 49, 50, 51, 52, 100}) {
        BOOST_TEST(list(limit) == ids, "limit " << limit);
    }
    BOOST_TEST(list(25, ImportState::Canceled) == Ids(ids.begin() + 1, ids.end()));
    BOOST_TEST(list(25, ImportState::Staging) == Ids(ids.begin(), ids.begin() + 1));
    BOOST_TEST(list(25, ImportState::Completed).empty());
}

BOOST_AUTO_TEST_CASE(large_mappings_end_a_page_after_4_MiB) {
    const Ids ids = create(30);
    client.execute("UPDATE import_jobs SET mapping = JSON_OBJECT('columns', REPEAT('x', 250000))");
    const auto first = service::list_imports(context, acme, std::nullopt, std::nullopt, 100);
    BOOST_TEST(first.jobs.size() == 17);
    BOOST_TEST_REQUIRE(first.next.has_value());
    const auto rest = service::list_imports(context, acme, first.next, std::nullopt, 100);
    BOOST_TEST_REQUIRE(rest.jobs.size() == 13);
    BOOST_TEST(rest.jobs.front().id == ids[17]);
    BOOST_TEST(!rest.next.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
