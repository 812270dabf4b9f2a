// base/email.hpp: the lengths of addresses, the time that long ones take, and addresses in a text.
#include "base/email.hpp"

#include "print.hpp"
#include "processor_time.hpp"

#include <string>

using muster::FieldCode;
using muster::fold_email;
using muster::mentions_email;
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

BOOST_AUTO_TEST_CASE(an_address_has_at_most_30_combining_marks_in_a_row) {
    const std::string most = "x" + repeated("\u0325", 30);
    BOOST_TEST(normalized(most + "@x.test") == most + "@x.test");
    BOOST_TEST(normalized(most + "\u0325@x.test") == "rejected: invalid_email");
    BOOST_TEST(normalized(most + "a" + "@x.test") == most + "a@x.test");
}

// The rows of a staging call: descending classes, which take the most time to sort.
BOOST_AUTO_TEST_CASE(five_thousand_of_the_costliest_texts_take_bounded_processor_time) {
    std::string text = "A";
    for (const char* mark : {"\u0345", "\u035d", "\u035c", "\u0315", "\u0302", "\u0323", "\u031b",
                             "\u0327", "\u0334"}) {
        text += repeated(mark, 56);
    }
    const double used = muster::test::processor_milliseconds([&] {
        for (int row = 0; row < 5'000; ++row) BOOST_TEST(normalized(text) != text);
    });
    BOOST_TEST(used < muster::test::processor_limit());
}

// ---------------------------------------------------------------------------- in a text

BOOST_AUTO_TEST_CASE(an_address_in_a_text_is_found_between_anything_but_a_longer_address) {
    constexpr std::string_view kAnn = "ann@x.test";
    for (const char* text :
         {"ann@x.test", "(ann@x.test)", "<ann@x.test>", "write to ann@x.test.", "to ...ann@x.test",
          "'ann@x.test", "'ann@x.test'", "\"ann@x.test\"", "mailto:ann@x.test", "mail=ann@x.test",
          "a|ann@x.test|b", "bob@x.test,ann@x.test;", "\u201cann@x.test\u201d", "\u2192ann@x.test",
          "ann@x.test\u2026", "joann@x.test ann@x.test", "ann@x.test'"}) {
        BOOST_TEST(mentions_email(text, kAnn), text);
    }
    for (const char* text :
         {"", "ann", "ann@x", "joann@x.test", "jo.ann@x.test", "o'ann@x.test", "j\u00f6ann@x.test",
          "joe\u0308ann@x.test", "7ann@x.test", "a+ann@x.test", "a_ann@x.test", "a-ann@x.test",
          "a&ann@x.test", "a~ann@x.test", "ann@x.tests", "ann@x.test.org", "ann@x.test-2"}) {
        BOOST_TEST(!mentions_email(text, kAnn), text);
    }
    BOOST_TEST(mentions_email("to j\u00f6@x.test", "j\u00f6@x.test"));
}

BOOST_AUTO_TEST_SUITE_END()
