// rules/imports/error_counts.hpp: the counts of rows by error are bounded and survive storage.
#include "rules/imports/error_counts.hpp"

#include "rules/imports/outcome.hpp"

#include "print.hpp"

#include <limits>
#include <string>
#include <vector>

using namespace muster::rules;

namespace muster::rules {

std::ostream& operator<<(std::ostream& to, const ErrorCount& entry) {
    return to << text_of(entry.error) << ' ' << entry.field << ' ' << entry.count;
}

}  // namespace muster::rules

namespace {

using List = std::vector<ErrorCount>;

ErrorCounts many_fields(std::size_t count) {
    ErrorCounts counts;
    for (std::size_t i = 0; i < count; ++i) {
        counts.add(RowError::AttrUnknownKey, "attributes.k" + std::to_string(i));
    }
    return counts;
}

std::int64_t sum(const ErrorCounts& counts) {
    std::int64_t total = 0;
    for (const ErrorCount& entry : counts.list()) total += entry.count;
    return total;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(import_error_counts)

BOOST_AUTO_TEST_CASE(rows_are_counted_by_error_and_field_and_the_most_frequent_comes_first) {
    ErrorCounts counts;
    counts.add({{RowState::Valid, RowError::None, "", {}},
                {RowState::Invalid, RowError::DuplicateInFile, "", {}},
                {RowState::Invalid, RowError::AttrUnknownKey, "hobby", {}},
                {RowState::Invalid, RowError::AttrUnknownKey, "hobby", {}},
                {RowState::Invalid, RowError::AttrInvalidValue, "", {}},
                {RowState::Failed, RowError::WriteFailed, "", {}}});
    BOOST_TEST(counts.list() == (List{{RowError::AttrUnknownKey, "attributes.hobby", 2},
                                      {RowError::DuplicateInFile, "email", 1},
                                      {RowError::AttrInvalidValue, "attributes", 1},
                                      {RowError::WriteFailed, "", 1}}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(fields_beyond_the_limit_are_counted_without_their_name) {
    constexpr auto kMost = ErrorCounts::kMostFields;
    BOOST_TEST(many_fields(kMost).list().size() == kMost);
    ErrorCounts counts = many_fields(1000);
    BOOST_TEST(counts.list().size() == kMost + 1);
    BOOST_TEST(counts.list().front() == (ErrorCount{RowError::AttrUnknownKey, "", 980}));
    counts.add(RowError::DuplicateInFile, "email");
    BOOST_TEST(counts.list().back().field != "");
    ErrorCounts joined = many_fields(60);
    joined.add(counts);
    BOOST_TEST(joined.list().size() == kMost + 2);
    BOOST_TEST(sum(joined) == 1061);
}

BOOST_AUTO_TEST_CASE(counts_are_read_back_from_their_text) {
    ErrorCounts counts = many_fields(1000);
    counts.add(RowError::DuplicateInFile, "email", 7);
    counts.add(RowError::AttrInvalidValue, "attributes.\"\n\\ä");
    const auto again = decode_error_counts(encode_error_counts(counts));
    BOOST_TEST(sum(again) == sum(counts));
    BOOST_TEST(again.list().front() == (ErrorCount{RowError::AttrUnknownKey, "", 980}));
    BOOST_TEST(again.list()[1] == (ErrorCount{RowError::DuplicateInFile, "email", 7}));
}

BOOST_AUTO_TEST_CASE(counts_that_exceed_the_range_stay_at_its_end) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    auto counts = decode_error_counts(
        R"([{"error":"ROW_WRITE_FAILED","field":"","count":9223372036854775807},)"
        R"({"error":"ROW_WRITE_FAILED","field":"","count":9223372036854775807}])");
    counts.add(RowError::WriteFailed, "");
    BOOST_TEST(counts.list() == (List{{RowError::WriteFailed, "", kMost}}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(unreadable_counts_are_skipped) {
    for (const char* text :
         {"", "{}", "[", "null", "[1]", R"([{"error":"ROW_OTHER","field":"","count":1}])",
          R"([{"error":"ROW_WRITE_FAILED","field":1,"count":1}])",
          R"([{"error":"ROW_WRITE_FAILED","field":"","count":-1}])",
          R"([{"error":"ROW_WRITE_FAILED","field":"","count":1.5}])", R"([{"error":""}])"}) {
        BOOST_TEST(decode_error_counts(text).empty(), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
