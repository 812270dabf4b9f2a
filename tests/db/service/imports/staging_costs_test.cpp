// service/imports/staging.hpp: what a staging call may cost, whatever rows are staged already.
#include "service/imports/staging.hpp"

#include "base/json.hpp"
#include "db/imports.hpp"
#include "service/failure.hpp"

#include <algorithm>

using namespace muster;
using test::error_of;
using test::ImportFixture;
using test::people;
using test::row;
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
