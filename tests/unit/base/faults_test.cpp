// base/faults.hpp: the faults of a request, in the order in which they were found.
#include "base/faults.hpp"

#include "print.hpp"

#include <set>
#include <string>
#include <vector>

using muster::Faults;
using muster::FieldCode;

namespace {

constexpr std::array<std::pair<FieldCode, std::string_view>, 17> kCodes = {{
    {FieldCode::Required, "required"},
    {FieldCode::UnknownField, "unknown_field"},
    {FieldCode::WrongType, "wrong_type"},
    {FieldCode::TooLong, "too_long"},
    {FieldCode::TooShort, "too_short"},
    {FieldCode::OutOfRange, "out_of_range"},
    {FieldCode::InvalidEmail, "invalid_email"},
    {FieldCode::InvalidDate, "invalid_date"},
    {FieldCode::InvalidCountry, "invalid_country"},
    {FieldCode::InvalidUrl, "invalid_url"},
    {FieldCode::InvalidUuid, "invalid_uuid"},
    {FieldCode::InvalidChoice, "invalid_choice"},
    {FieldCode::InvalidTimestamp, "invalid_timestamp"},
    {FieldCode::Duplicate, "duplicate"},
    {FieldCode::UnknownAttribute, "unknown_attribute"},
    {FieldCode::InvalidValue, "invalid_value"},
    {FieldCode::InvalidCursor, "invalid_cursor"},
}};

}  // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(codes_have_their_contract_texts_and_one_sentence_each) {
    std::set<std::string_view> sentences;
    for (const auto& [code, text] : kCodes) {
        BOOST_TEST(muster::field_code_text(code) == text);
        BOOST_TEST(sentences.insert(muster::field_code_message(code)).second, text);
    }
}

BOOST_AUTO_TEST_CASE(faults_keep_their_order_and_have_the_default_or_a_given_sentence) {
    Faults list;
    BOOST_TEST(list.empty());
    list.add("b", FieldCode::TooLong);
    list.add("a", FieldCode::TooLong, "is longer than a tape");
    list.add("b", FieldCode::TooLong);
    BOOST_TEST(!list.empty());
    BOOST_TEST_REQUIRE(list.list().size() == 3);
    BOOST_TEST(list.list()[0].path == "b");
    BOOST_TEST(list.list()[0].message == "is too long");
    BOOST_TEST(list.list()[1].message == "is longer than a tape");
    BOOST_TEST(list.list()[1].code == FieldCode::TooLong);
}

BOOST_AUTO_TEST_CASE(a_list_of_more_than_a_hundred_faults_is_truncated) {
    Faults list;
    for (std::size_t i = 0; i < Faults::kMost; ++i)
        list.add(std::to_string(i), FieldCode::Required);
    BOOST_TEST(list.list().size() == 100);
    BOOST_TEST(!list.truncated());
    list.add("one more", FieldCode::Required);
    BOOST_TEST(list.list().size() == 100);
    BOOST_TEST(list.list().back().path == "99");
    BOOST_TEST(list.truncated());
}

BOOST_AUTO_TEST_SUITE_END()
