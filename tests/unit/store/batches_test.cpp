// store/batches.hpp: the sizes of bulk statements.
#include "store/batches.hpp"

#include "print.hpp"

#include <set>
#include <vector>

using muster::store::batch_size;
using muster::store::in_batches;
using muster::store::in_pieces;
using muster::store::kMostRows;

namespace {

std::vector<std::size_t> sizes_of_pieces(std::size_t rows) {
    const std::vector<int> values(rows);
    std::vector<std::size_t> sizes;
    in_pieces<int>(values, [&](std::span<const int> piece) { sizes.push_back(piece.size()); });
    return sizes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(up_to_16_rows_are_one_statement_and_up_to_64_two) {
    for (std::size_t rows = 1; rows <= 64; ++rows) {
        BOOST_TEST(sizes_of_pieces(rows).size() <= (rows <= 16 ? 1U : 2U), rows);
    }
    BOOST_TEST((sizes_of_pieces(63) == std::vector<std::size_t>{48, 15}));
    BOOST_TEST((sizes_of_pieces(256) == std::vector<std::size_t>{256}));
    BOOST_TEST((sizes_of_pieces(600) == std::vector<std::size_t>{256, 256, 64, 24}));
}

BOOST_AUTO_TEST_CASE(statements_have_24_sizes) {
    std::set<std::size_t> sizes;
    for (std::size_t rows = 1; rows <= 2 * kMostRows; ++rows) {
        BOOST_TEST((batch_size(rows) >= 1U && batch_size(rows) <= rows));
        sizes.insert(batch_size(rows));
    }
    BOOST_TEST(sizes.size() == 24U);
    BOOST_TEST(*sizes.rbegin() == kMostRows);
}

BOOST_AUTO_TEST_CASE(no_rows_are_no_statement) {
    BOOST_TEST(sizes_of_pieces(0).empty());
}

BOOST_AUTO_TEST_CASE(a_list_is_filled_up_with_its_last_value) {
    const std::vector<std::int64_t> values = {7, 8, 9};
    std::vector<std::int64_t> seen;
    in_batches<std::int64_t>(values, [&](const std::vector<muster::db::Param>& params) {
        for (const auto& param : params) seen.push_back(param.integer());
    });
    BOOST_TEST((seen == std::vector<std::int64_t>{7, 8, 9, 9}));
}

BOOST_AUTO_TEST_SUITE_END()
