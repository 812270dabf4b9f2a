// base/unicode.hpp: spellings that look alike become equal, and others stay different; the width of
// text on a terminal.
#include "base/unicode.hpp"

#include "print.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using muster::column_width;
using muster::folded;

namespace {

std::string composed_text(std::string text) {
    muster::compose(text);
    return text;
}

std::string repeated_text(std::size_t count, std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += text;
    return result;
}

std::string utf8_of(utf8proc_int32_t point) {
    std::string text(4, '\0');
    auto* bytes = reinterpret_cast<utf8proc_uint8_t*>(text.data());
    text.resize(static_cast<std::size_t>(utf8proc_encode_char(point, bytes)));
    return text;
}

std::string form_of(const std::string& text, utf8proc_uint8_t* (*form)(const utf8proc_uint8_t*)) {
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> result(
        form(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str())), &std::free);
    return reinterpret_cast<const char*>(result.get());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unicode)

BOOST_AUTO_TEST_CASE(a_text_is_composed_and_folded) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", ""},
        {"Ann", "ann"},
        {"ZO\u00cb", "zo\u00eb"},
        {"zoe\u0308", "zo\u00eb"},
        {"ZOE\u0308", "zo\u00eb"},
        {"\u0418\u0412\u0410\u041d", "\u0438\u0432\u0430\u043d"},
        {"\u039f\u03a3", "\u03bf\u03c3"},
        {"\u03bf\u03c2", "\u03bf\u03c3"},
        {"\u1e9e", "\u00df"},
        {"stra\u00dfe", "stra\u00dfe"},
        {"\u212b", "\u00e5"},
        {"\u4f60\u597d \U0001f600", "\u4f60\u597d \U0001f600"},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(folded(text) == expected, text);
        BOOST_TEST(folded(folded(text)) == expected, text);
    }
}

BOOST_AUTO_TEST_CASE(composed_and_decomposed_spellings_become_equal) {
    constexpr utf8proc_int32_t kLast = 0x10ffff;
    std::string different;
    for (utf8proc_int32_t point = 1; point <= kLast; ++point) {
        if (!utf8proc_codepoint_valid(point)) continue;
        std::string text(4, '\0');
        auto* bytes = reinterpret_cast<utf8proc_uint8_t*>(text.data());
        text.resize(static_cast<std::size_t>(utf8proc_encode_char(point, bytes)));
        const std::string expected = folded(text);
        for (const auto normalized : {utf8proc_NFC, utf8proc_NFD}) {
            std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> form(
                normalized(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str())), &std::free);
            if (folded(reinterpret_cast<const char*>(form.get())) != expected) different += text;
        }
    }
    BOOST_TEST(different == "");
}

BOOST_AUTO_TEST_CASE(letters_and_their_marks_are_composed) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", ""},
        {"Ann", "Ann"},
        {"Be\u0301rg", "B\u00e9rg"},
        {"B\u00e9rg", "B\u00e9rg"},
        {"e\u0302\u0323", "\u1ec7"},
        {"\u304b\u3099", "\u304c"},
        {"\u1112\u1161\u11ab\u1100\u1173\u11af", "\ud55c\uae00"},
        {"\u0418\u0306", "\u0419"},
        {"x\u030c", "x\u030c"},
        {"\u0301", "\u0301"},
        {"\ufb01 \u2460 \uff21", "\ufb01 \u2460 \uff21"},
        // Kept: names are written with these shapes.
        {"\ufa19\u8c37", "\ufa19\u8c37"},
        {"e\u0301\uf900e\u0301\U0002f800\u304b\u3099", "\u00e9\uf900\u00e9\U0002f800\u304c"},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(composed_text(text) == expected, text);
        BOOST_TEST(composed_text(expected) == expected, text);
    }
}

// Decomposed characters have all pairs that join. A mark that another one overtakes is not at its
// place, with and without a mark that joins the letter.
BOOST_AUTO_TEST_CASE(every_character_is_composed_except_ideographs_for_compatibility) {
    constexpr utf8proc_int32_t kLast = 0x10ffff;
    std::string different;
    for (utf8proc_int32_t point = 1; point <= kLast; ++point) {
        const bool is_kept =
            (point >= 0xf900 && point <= 0xfaff) || (point >= 0x2f800 && point <= 0x2fa1f);
        if (!utf8proc_codepoint_valid(point) || is_kept) continue;
        const std::string letter = utf8_of(point);
        for (const std::string& text : {letter, form_of(letter, utf8proc_NFD), "a" + letter,
                                        "a\u0301" + letter, "a\u0345" + letter}) {
            if (composed_text(text) != form_of(text, utf8proc_NFC)) different += text + " ";
        }
    }
    BOOST_TEST(different == "");
}

BOOST_AUTO_TEST_CASE(a_composed_text_is_a_view_without_a_copy) {
    std::string whole;
    for (const std::string text : {"Ann", "Zo\u00eb", "\u0410\u043d\u043d\u0430", "\u6771\u4eac"}) {
        BOOST_TEST(muster::composed(text, whole).data() == text.data());
    }
    BOOST_TEST(whole == "");
    BOOST_TEST(muster::composed("Zoe\u0308", whole) == "Zo\u00eb");
    BOOST_TEST(muster::composed("e\u0301", whole) == "\u00e9");
}

BOOST_AUTO_TEST_CASE(a_text_that_would_take_long_to_compose_is_kept) {
    const std::string most = repeated_text(muster::kMostComposedBytes / 3 - 1, "e\u0301");
    BOOST_TEST(composed_text(most).size() < most.size());
    for (const std::string& text :
         {most + "e\u0301 e\u0301", "e" + repeated_text(31, "\u0301"), std::string("e\u0301\xff"),
          std::string("\xcc"),
          // These are two marks each, and the last three have the combining class 0.
          repeated_text(16, "\u0344"), repeated_text(16, "\u0f73"), repeated_text(16, "\u0f75"),
          repeated_text(16, "\u0f81")}) {
        BOOST_TEST(composed_text(text) == text);
    }
    BOOST_TEST(composed_text("e" + repeated_text(30, "\u0301")) ==
               "\u00e9" + repeated_text(29, "\u0301"));
}

BOOST_AUTO_TEST_CASE(letters_of_different_words_stay_different) {
    BOOST_TEST(folded("\u0130") == "\u0130");
    BOOST_TEST(folded("\u0131") == "\u0131");
    BOOST_TEST(folded("\ufb01") == "\ufb01");  // a ligature is not a compatibility spelling
    BOOST_TEST(folded("stra\u00dfe") != folded("strasse"));
}

BOOST_AUTO_TEST_CASE(wide_characters_take_two_columns_and_combining_marks_none) {
    const std::vector<std::pair<std::string, std::size_t>> table = {
        {"", 0},       {"Ann", 3},        {"Zo\u00eb", 3}, {"Zoe\u0308", 3}, {"\u6771\u4eac", 4},
        {"\uac00", 2}, {"\U0001f600", 2},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(column_width(text) == expected, text);
    BOOST_CHECK_THROW((void)column_width("a\xff"), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()
