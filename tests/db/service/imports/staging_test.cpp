// service/imports/staging.hpp: malformed rows that are kept as invalid, from staging to the end of
// the job, and what a staging call may cost, whatever rows are staged already.
#include "service/imports/staging.hpp"

#include "base/json.hpp"
#include "db/imports.hpp"
#include "rules/imports/row_faults.hpp"
#include "service/failure.hpp"

#include <algorithm>

using namespace muster;
using rules::RowState;
using test::error_of;
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

using RowsToStage = std::vector<service::NewRow>;

namespace {

struct Staging : ImportFixture {
    // Rows first, first + step, ... with this many bytes of attributes each.
    static RowsToStage heavy(std::int64_t first, int count, std::int64_t step, std::size_t bytes) {
        RowsToStage rows = people(first, count, step);
        const std::string value = R"({"note":")" + std::string(bytes, 'x') + "\"}";
        for (service::NewRow& row : rows) row.fields.attributes = value;
        return rows;
    }
    std::optional<Error> stage_error(ImportId id, const RowsToStage& rows) {
        return error_of([&] { stage(id, rows); });
    }
    int statements_to_stage(ImportId id, const RowsToStage& rows) {
        service::reset_database_cost();
        stage(id, rows);
        return service::database_cost().statements;
    }
    // All rows with their payloads, as one text.
    std::string content(ImportId id) {
        std::string all;
        for (const auto& row : rows(id)) all += std::to_string(row.row_number) + row.payload;
        return all;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(imports_staging_costs, Staging)

BOOST_AUTO_TEST_CASE(rows_far_apart_take_few_statements) {
    const ImportId id = new_import();
    const RowsToStage rows = people(1, 5000, 501);
    BOOST_TEST(statements_to_stage(id, rows) < 100);
    BOOST_TEST(statements_to_stage(id, rows) < 200);
    BOOST_TEST(job(id).staged_rows == 5000);
}

BOOST_AUTO_TEST_CASE(a_call_that_would_rewrite_too_much_is_refused_and_says_what_fits) {
    const ImportId id = new_import();
    // Ten blocks of 4 MiB.
    for (int block = 0; block < 10; ++block) stage(id, heavy(1 + block * 500, 40, 1, 100'000));
    const std::string before = content(id);
    RowsToStage scattered = people(1, 10, 500);
    std::reverse(scattered.begin(), scattered.end());
    const auto error = stage_error(id, scattered);
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST((error->code() == ErrorCode::ValidationError));
    const Json::Value fault = error->details()["fields"][0];
    BOOST_TEST(fault["path"].asString() == "rows");
    BOOST_TEST(fault["code"].asString() == "too_long");
    BOOST_TEST(fault["max_length"].asInt() == 6);
    BOOST_TEST(fault["message"].asString() ==
               "rewrites more than 24 MiB or 100000 rows of staged blocks; send the rows up to "
               "number 2501 in one call and the others in further calls");
    BOOST_TEST(content(id) == before);

    stage(id, people(1, 6, 500));
    stage(id, people(3001, 4, 500));
    BOOST_TEST(job(id).staged_rows == 400);
}

BOOST_AUTO_TEST_CASE(a_call_rewrites_at_most_100000_rows) {
    const ImportId id = new_import();
    for (int block = 0; block < 201; block += 10) stage(id, people(1 + block * 500, 5000));
    RowsToStage one_in_each_block = people(1, 201, 500);
    const auto error = stage_error(id, one_in_each_block);
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->details()["fields"][0]["max_length"].asInt() == 200);
    one_in_each_block.pop_back();
    stage(id, one_in_each_block);
    stage(id, one_in_each_block);
}

BOOST_AUTO_TEST_CASE(rows_of_one_block_that_are_too_large_are_refused_and_half_of_them_fit) {
    const ImportId id = new_import();
    const RowsToStage rows = heavy(1, 60, 1, 450'000);
    const auto error = stage_error(id, rows);
    BOOST_TEST_REQUIRE(error.has_value());
    const Json::Value fault = error->details()["fields"][0];
    BOOST_TEST(fault["code"].asString() == "too_long");
    BOOST_TEST(fault["max_length"].asInt() == 30);
    stage(id, {rows.begin(), rows.begin() + 30});
    stage(id, {rows.begin() + 30, rows.end()});
    BOOST_TEST(job(id).staged_rows == 60);
}

BOOST_AUTO_TEST_CASE(a_call_that_was_accepted_can_be_repeated) {
    const ImportId id = new_import();
    for (int block = 0; block < 8; ++block) stage(id, heavy(1 + block * 500, 10, 1, 100'000));
    // It writes 24 MB: 8 MB that are staged, and 16 MB of its own.
    RowsToStage more;
    for (int block = 0; block < 8; ++block) {
        const RowsToStage some = heavy(401 + block * 500, 5, 1, 400'000);
        more.insert(more.end(), some.begin(), some.end());
    }
    stage(id, more);
    const std::string once = content(id);
    stage(id, more);
    BOOST_TEST(content(id) == once);
}

BOOST_AUTO_TEST_CASE(consecutive_rows_replace_any_rows) {
    const ImportId id = new_import();
    // 40 MB in two blocks, in parts of up to 4 MiB.
    for (int at = 1; at <= 801; at += 100) stage(id, heavy(at, 100, 1, 40'000));
    stage(id, people(3, 996));
    BOOST_TEST(job(id).staged_rows == 998);
    BOOST_TEST(client.number("SELECT COALESCE(SUM(LENGTH(data)), 0) FROM import_blocks") < 200'000);
    const auto all = rows(id);
    BOOST_TEST_REQUIRE(all.size() == 998);
    for (std::size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST(all[i].row_number == static_cast<std::int64_t>(i + 1));
    }
}

BOOST_AUTO_TEST_SUITE_END()
