// Malformed rows that are kept as invalid: from staging to the end of the job.
#include "db/imports.hpp"
#include "rules/imports/row_faults.hpp"

using namespace muster;
using rules::RowState;
using test::ImportFixture;
using test::people;
using test::row;
using test::Tally;

namespace {

struct Malformed : ImportFixture {
    static service::NewRow malformed(std::int64_t number, std::string email) {
        auto made = row(number, std::move(email));
        made.fields.country = "UK";
        made.fields.attributes = rules::pack_faults({{"country", FieldCode::InvalidCountry}}, "");
        return made;
    }
    std::string report(ImportId id) {
        std::string text;
        service::write_error_report(context, acme, id, {},
                                    [&](std::string_view piece) { text += piece; });
        return text.substr(text.find("\r\n") + 2);
    }
};

using Outcomes = std::map<std::int64_t, std::string>;
const std::string kInvalid = "invalid ROW_FIELD_INVALID";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_malformed_rows, Malformed)

BOOST_AUTO_TEST_CASE(a_malformed_row_is_listed_with_its_faults_before_the_dry_run) {
    const ImportId id = staged({row(1, "a@x.test"), malformed(2, "b@x.test")});
    BOOST_TEST(outcomes(id) == (Outcomes{{1, "staged"}, {2, kInvalid}}));
    const auto found = rows(id, RowState::Invalid);
    BOOST_TEST_REQUIRE(found.size() == 1U);
    BOOST_TEST(
        (found[0].faults == std::vector<rules::RowFault>{{"country", FieldCode::InvalidCountry}}));
    BOOST_TEST(found[0].error_message ==
               "country is not an officially assigned ISO 3166-1 alpha-2 code");
    BOOST_TEST(found[0].payload.find(R"("country":"UK","dob":null,"attributes":{})") !=
               std::string::npos);
    BOOST_TEST(report(id) ==
               "b@x.test,,,,,,UK,,,2,ROW_FIELD_INVALID,country is not an officially assigned ISO "
               "3166-1 alpha-2 code\r\n");
    BOOST_TEST(job(id).staged_rows == 2);
    BOOST_TEST(job(id).invalid_rows == 0);
}

BOOST_AUTO_TEST_CASE(malformed_rows_are_counted_and_not_imported) {
    auto all = people(1, 1200);
    for (const int number : {3, 500, 501, 1200}) {
        all[static_cast<std::size_t>(number - 1)] =
            malformed(number, "bad" + std::to_string(number));
    }
    const ImportId id = completed(all);
    const auto done = job(id);
    BOOST_TEST(done.valid_rows == 1196);
    BOOST_TEST(done.invalid_rows == 4);
    BOOST_TEST(done.processed_rows == 1200);
    BOOST_TEST_REQUIRE(done.errors.size() == 1U);
    BOOST_TEST(done.errors[0].field == "country");
    BOOST_TEST(done.errors[0].count == 4);
    BOOST_TEST(members() == 1196);
    BOOST_TEST(tally(id) == (Tally{{"created", 1196}, {kInvalid, 4}}));
}

BOOST_AUTO_TEST_CASE(a_row_that_is_staged_again_replaces_a_malformed_one_and_the_reverse) {
    const ImportId id = staged({row(1, "a@x.test"), malformed(2, "b@x.test"), row(3, "c@x.test")});
    stage(id, {row(2, "b@x.test"), malformed(3, "c@x.test"), malformed(4, "d@x.test")});
    BOOST_TEST(outcomes(id) ==
               (Outcomes{{1, "staged"}, {2, "staged"}, {3, kInvalid}, {4, kInvalid}}));
    stage(id, {malformed(4, "d@x.test")});
    BOOST_TEST(job(id).staged_rows == 4);
    stage(id, {row(3, "c@x.test"), row(4, "d@x.test")});
    BOOST_TEST(rows(id, RowState::Invalid).empty());
    BOOST_TEST(report(id) == "");
}

BOOST_AUTO_TEST_CASE(a_malformed_row_claims_a_valid_address) {
    const ImportId id =
        validated({malformed(1, "a@x.test"), row(2, "a@x.test"), malformed(3, "not an address"),
                   malformed(4, "not an address"), row(5, "b@x.test"), malformed(6, "b@x.test")});
    BOOST_TEST(outcomes(id) == (Outcomes{{1, kInvalid},
                                         {2, "invalid ROW_DUPLICATE_IN_FILE"},
                                         {3, kInvalid},
                                         {4, kInvalid},
                                         {5, "valid"},
                                         {6, kInvalid}}));
}

BOOST_AUTO_TEST_CASE(an_interrupted_dry_run_claims_the_same_addresses_again) {
    auto all = people(1, 6000);
    all[0] = malformed(1, "a@x.test");
    all[1] = malformed(2, "not an address");
    all[5998].fields.email = "a@x.test";
    const ImportId id = new_import();
    stage(id, {all.begin(), all.begin() + 5000});
    stage(id, {all.begin() + 5000, all.end()});
    validate(id);
    const auto first = lease();
    auto run = service::resume_dry_run(context, job(id));
    BOOST_TEST(check_next(first, run));
    client.run("UPDATE import_jobs SET lease_until = 0");
    check_rest(lease());
    BOOST_TEST(tally(id) ==
               (Tally{{"valid", 5997}, {kInvalid, 2}, {"invalid ROW_DUPLICATE_IN_FILE", 1}}));
}

BOOST_AUTO_TEST_CASE(a_damaged_outcome_does_not_import_a_malformed_row) {
    const ImportId id = validated({malformed(1, "a@x.test")});
    as(acme, [&](service::OrgTransaction& transaction) {
        db::OrgStore org(transaction.tx, acme);
        store::write_outcome(org, id, {0, 0}, store::BlockState::Checked,
                             {{RowState::Valid, rules::RowError::None, "", {}}}, transaction.now);
    });
    request_commit(id);
    commit_rest(lease());
    BOOST_TEST(outcomes(id) == (Outcomes{{1, "failed ROW_ATTR_INVALID_VALUE"}}));
    BOOST_TEST(members() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
