// service/imports/dry_run.hpp: the preview predicts the commit, and depends on the organization's
// own members only.
#include "service/imports/dry_run.hpp"

#include "rules/members/fields.hpp"

#include "db/imports.hpp"
#include "db/lookups.hpp"

using namespace muster;
using rules::RowState;
using service::Lease;
using test::ImportFixture;
using test::people;
using test::Tally;

namespace {

struct Preview : ImportFixture {
    void add_member(OrgId organization, const std::string& email) {
        DatabaseContext worker;
        rules::MemberFields fields;
        fields.email = email;
        test::add_member(worker, organization, fields);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_preview, Preview)

BOOST_AUTO_TEST_CASE(the_preview_predicts_the_commit_row_by_row) {
    const OrgId other = organization("Other");
    for (int i = 1; i <= 4; ++i) add_member(acme, "m" + std::to_string(i) + "@example.test");
    for (int i = 3; i <= 9; ++i) add_member(other, "m" + std::to_string(i) + "@example.test");
    const ImportId id = validated(people(1, 12));
    const auto preview = *job(id).preview;
    BOOST_TEST(preview.new_members == 8);
    BOOST_TEST(preview.existing_members == 4);
    request_commit(id);
    commit_rest(lease());
    BOOST_TEST(tally(id) == (Tally{{"created", 3}, {"attached", 5}, {"merged", 4}}));
    BOOST_TEST(job(id).created_count == 3);
    BOOST_TEST(job(id).attached_count == 9);
    BOOST_TEST(job(id).preview->new_members == 8);
}

BOOST_AUTO_TEST_CASE(a_dry_run_does_not_reveal_who_is_known_to_other_organizations) {
    const OrgId other = organization("Other");
    const auto dry_run = [&] {
        const ImportId id = validated(people(1, 12));
        const auto state = client.value(
            "SELECT CONCAT_WS(' ', processed_rows, valid_rows, invalid_rows, preview_create, "
            "preview_attach, preview_merge, revision) FROM import_jobs WHERE id = ?",
            id);
        const auto seen = tally(id);
        for (const auto& row : rows(id, RowState::Valid)) BOOST_TEST(!row.user_id.has_value());
        cancel(id);
        return std::pair(state, seen);
    };
    const auto unknown = dry_run();
    for (int i = 3; i <= 9; ++i) add_member(other, "m" + std::to_string(i) + "@example.test");
    const auto known = dry_run();
    BOOST_TEST(known.first == unknown.first);
    BOOST_TEST((known.second == unknown.second));
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_preview_add_up) {
    for (int i = 1; i <= 5; ++i) add_member(acme, "m" + std::to_string(i) + "@example.test");
    const ImportId id = staged(people(1, 1203));
    validate(id);
    const Lease mine = lease();
    auto run = service::resume_dry_run(context, job(id));
    const auto batch = service::validate_next(context, mine, run);
    BOOST_TEST_REQUIRE(batch.has_value());
    for (const std::size_t parts : {1U, 2U, 3U, 7U}) {
        rules::ImportPreview sum;
        for (std::size_t part = 0; part < parts; ++part) {
            const auto one = batch->preview(context, mine, part, parts);
            sum.new_members += one.new_members;
            sum.existing_members += one.existing_members;
        }
        BOOST_TEST(sum.new_members == 1198);
        BOOST_TEST(sum.existing_members == 5);
    }
}

BOOST_AUTO_TEST_SUITE_END()
