// base/email.hpp: the lengths of addresses, and the time that long ones take.
#include "base/email.hpp"

#include "print.hpp"

#include <string>

using muster::FieldCode;
using muster::fold_email;
using muster::normalize_email;

namespace {

std::string repeated(std::string_view text, std::size_t times) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
}

// A domain of labels, with `length` bytes.
std::string domain(std::size_t length) {
    std::string text;
    while (text.size() + 3 < length) text += text.size() % 60 == 59 ? "." : "d";
    return text + "." + std::string(length - text.size() - 1, 'x');
}

std::string normalized(std::string text) {
    const auto fault = normalize_email(text);
    return fault ? "rejected: " + std::string(field_code_text(*fault)) : text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(email)

BOOST_AUTO_TEST_CASE(an_address_has_at_most_254_bytes_when_folded) {
    const std::string longest = "ann@" + domain(250);
    BOOST_TEST(normalized(longest) == longest);
    BOOST_TEST(normalized("ann@" + domain(251)) == "rejected: too_long");
    BOOST_TEST(normalized(std::string(2'000, ' ') + longest) == longest);
}

// The longest spellings of a local part of 64 bytes.
BOOST_AUTO_TEST_CASE(a_spelling_that_folding_shortens_is_accepted) {
    BOOST_TEST(normalized(repeated("\u03b9\u0308\u0301", 32) + "@x.test") ==
               repeated("\u0390", 32) + "@x.test");
    BOOST_TEST(normalized(repeated("\u212a", 64) + "@x.test") == repeated("k", 64) + "@x.test");
}

// Two million marks in the wrong order would take hours to sort.
BOOST_AUTO_TEST_CASE(a_long_run_of_combining_marks_is_rejected_without_sorting_it) {
    const std::string marks = repeated("\u0301", 1'000'000) + repeated("\u0316", 1'000'000);
    BOOST_TEST(normalized("A" + marks + "@x.test") == "rejected: too_long");
    std::string text = "A" + marks;
    fold_email(text);
    BOOST_TEST((text == "a" + marks));
}

BOOST_AUTO_TEST_SUITE_END()
