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

BOOST_AUTO_TEST_CASE(a_sentence_has_what_is_accepted) {
    using muster::fault_message;
    BOOST_TEST(fault_message(FieldCode::TooLong, muster::longest(255)) ==
               "is too long; the maximum is 255");
    BOOST_TEST(fault_message(FieldCode::TooShort, muster::shortest(2)) ==
               "is too short; the minimum is 2");
    BOOST_TEST(fault_message(FieldCode::OutOfRange, muster::between(1, 100)) ==
               "is out of range; use 1 to 100");
    BOOST_TEST(fault_message(FieldCode::OutOfRange, {.minimum = 1}) ==
               "is out of range; use at least 1");
    BOOST_TEST(fault_message(FieldCode::OutOfRange, {.maximum = 9}) ==
               "is out of range; use at most 9");
    BOOST_TEST(fault_message(FieldCode::InvalidChoice, {.allowed = {"S", "M"}}) ==
               "is not one of the allowed values; use S, M");
    BOOST_TEST(fault_message(FieldCode::InvalidChoice, {}) == "is not one of the allowed values");
    const std::vector<std::string> many(11, "x");
    BOOST_TEST(fault_message(FieldCode::InvalidChoice, {.allowed = many}).ends_with("x, ..."));
}

BOOST_AUTO_TEST_CASE(a_code_of_a_format_adds_the_format) {
    Faults list;
    list.add("dob", FieldCode::InvalidDate);
    list.add("email", FieldCode::InvalidEmail, muster::longest(254));
    list.add("name", FieldCode::TooLong, muster::longest(5));
    BOOST_TEST(list.list()[0].limits.format == "date");
    BOOST_TEST(list.list()[1].limits.format == "email");
    BOOST_TEST(list.list()[2].limits.format == "");
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

BOOST_AUTO_TEST_CASE(a_list_holds_as_many_faults_as_its_owner_allows) {
    Faults list(1);
    BOOST_TEST(!list.is_full());
    list.add("first", FieldCode::Required);
    BOOST_TEST(list.is_full());
    BOOST_TEST(!list.truncated());
    list.add("second", FieldCode::Required, "is needed");
    BOOST_TEST(list.list().size() == 1);
    BOOST_TEST(list.truncated());
}

BOOST_AUTO_TEST_SUITE_END()
