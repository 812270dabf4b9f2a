// base/text.hpp: UTF-8, folding and trimming, hex, base64url and percent encoding, whole numbers.
#include "base/text.hpp"

#include "print.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using muster::from_base64url;
using muster::is_utf8;
using muster::parse_number;
using muster::percent_encoded;
using muster::to_base64url;
using muster::utf8_length;

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(valid_and_invalid_utf8_are_recognized) {
    for (const std::string_view text :
         {std::string_view(""), std::string_view("plain"), std::string_view("\0x", 2),
          std::string_view("\x7f"), std::string_view("\xc2\x80"), std::string_view("\xdf\xbf"),
          std::string_view("\xe0\xa0\x80"), std::string_view("\xed\x9f\xbf"),
          std::string_view("\xee\x80\x80"), std::string_view("\xef\xbf\xbf"),
          std::string_view("\xf0\x90\x80\x80"), std::string_view("\xf4\x8f\xbf\xbf")}) {
        BOOST_TEST(is_utf8(text));
    }
    for (const std::string_view text : {"\x80",
                                        "\xbf",
                                        "\xc3",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xe0\x80\x80",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xed\xbf\xbf",
                                        "\xe2\x82",
                                        "\xe2\x28\xa1",
                                        "\xf0\x80\x80\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xf0\x9f\x98",
                                        "\xfe",
                                        "\xff",
                                        "a\xc3(",
                                        "plain\xe9"}) {
        BOOST_TEST(!is_utf8(text));
    }
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_found_at_any_position) {
    for (std::size_t at = 0; at < 200; ++at) {
        std::string text(200, 'x');
        text[at] = '\xff';
        BOOST_TEST(!is_utf8(text), at);
    }
}

BOOST_AUTO_TEST_CASE(length_counts_code_points) {
    BOOST_TEST(utf8_length("") == 0U);
    BOOST_TEST(utf8_length("abc") == 3U);
    BOOST_TEST(utf8_length("Zo\u00eb") == 3U);
    BOOST_TEST(utf8_length("\u4f60\u597d") == 2U);
    BOOST_TEST(utf8_length("\U0001f600") == 1U);
    BOOST_TEST(utf8_length("e\u0301") == 2U);
    BOOST_TEST(utf8_length(std::string_view("\0\0", 2)) == 2U);
}

BOOST_AUTO_TEST_CASE(the_first_character_has_one_to_four_bytes) {
    BOOST_TEST(muster::character_size("abc") == 1U);
    BOOST_TEST(muster::character_size("\u00eb.") == 2U);
    BOOST_TEST(muster::character_size("\u4f60\u597d") == 3U);
    BOOST_TEST(muster::character_size("\U0001f600") == 4U);
    for (const std::string_view text : {"", "\xff", "\xc3(", "\xf0\x9f\x98"}) {
        BOOST_TEST(muster::character_size(text) == 0U);
    }
}

BOOST_AUTO_TEST_CASE(case_is_folded_in_ascii_only) {
    std::string text = "AZaz09@[`{ \u00c4\u00e4\u0130";
    muster::ascii_lower(text);
    BOOST_TEST(text == "azaz09@[`{ \u00c4\u00e4\u0130");
    muster::ascii_upper(text);
    BOOST_TEST(text == "AZAZ09@[`{ \u00c4\u00e4\u0130");
    std::string every;
    for (int c = 0x80; c < 0x100; ++c) every += static_cast<char>(c);
    std::string folded = every;
    muster::ascii_lower(folded);
    muster::ascii_upper(folded);
    BOOST_TEST(folded == every);
}

BOOST_AUTO_TEST_CASE(white_space_is_trimmed_at_both_ends) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"", ""},
        {" ", ""},
        {" \t\n\v\f\r ", ""},
        {"a", "a"},
        {" a", "a"},
        {"a ", "a"},
        {"\r\n a b \t\v\f", "a b"},
        {"\u00a0a", "a"},
        {"\u0085\u1680a\u2028 b\u2029\u202f", "a\u2028 b"},
        {"\ufeff \u2000a\u200a\u205f\u3000", "a"},
        {" \u200b ", ""},
        {"\u00a0", ""},
        {"\u007f\u0084a\u0086\u009f", "\u007f\u0084a\u0086\u009f"},
        {"\u1fff\u200c\u200d\u180ea\u2060\u2030\u3001",
         "\u1fff\u200c\u200d\u180ea\u2060\u2030\u3001"},
        {"\u00e0\U0001f600", "\u00e0\U0001f600"},
        {"\xa0", "\xa0"},
        {"\x80\x80", "\x80\x80"},
        {"\x1f"
         "a",
         "\x1f"
         "a"},
        {"\b"
         "a",
         "\b"
         "a"},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(muster::trimmed(text) == expected);
    BOOST_TEST(muster::trimmed(std::string_view("\0 ", 2)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(all_white_space_of_unicode_is_trimmed) {
    for (const std::string_view space :
         {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
          "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
          "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"}) {
        const std::string text = std::string(space) + "a" + std::string(space);
        BOOST_TEST(muster::trimmed(text) == "a", space);
        BOOST_TEST(muster::trimmed(space) == "", space);
        BOOST_TEST(muster::trimmed_ascii(text) == text, space);
    }
    BOOST_TEST(muster::trimmed_ascii("\r\n a b \t\v\f") == "a b");
}

BOOST_AUTO_TEST_CASE(control_characters_above_ascii_are_found_anywhere) {
    std::string lines = "a\u0080b";
    for (int c = 0x80; c < 0xa0; ++c) {
        lines[2] = static_cast<char>(c);
        BOOST_TEST(muster::has_control(lines), c);
    }
    for (const std::string_view text :
         {"\u2028", "a\u2029", "\u2028z", "\u00a0\u0085", "\u2027\u2028", "\n", "\x7f"}) {
        BOOST_TEST(muster::has_control(text), text);
    }
    for (const std::string_view text :
         {"", "a b", "\u00a0", "\u00bf\u00e9\u20ac", "\u2027\u202a", "\U0001f468\u200d\U0001f469",
          "\u4f60", "\xc2", "\xe2\x80"}) {
        BOOST_TEST(!muster::has_control(text), text);
    }
}

BOOST_AUTO_TEST_CASE(texts_are_compared_case_insensitively) {
    BOOST_TEST(muster::equal_ignoring_case("", ""));
    BOOST_TEST(muster::equal_ignoring_case("Bearer", "bEARER"));
    BOOST_TEST(!muster::equal_ignoring_case("bearer", "bearer "));
    BOOST_TEST(!muster::equal_ignoring_case("bearer", "beare"));
    BOOST_TEST(!muster::equal_ignoring_case("@", "`"));
    BOOST_TEST(!muster::equal_ignoring_case("[", "{"));
    BOOST_TEST(!muster::equal_ignoring_case("\u00c4", "\u00e4"));
}

BOOST_AUTO_TEST_CASE(a_split_keeps_every_part) {
    const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> table = {
        {"", {""}},
        {"a", {"a"}},
        {"a,b", {"a", "b"}},
        {",", {"", ""}},
        {"a,,b", {"a", "", "b"}},
        {",a,", {"", "a", ""}},
    };
    for (const auto& [text, parts] : table) {
        BOOST_TEST(muster::split(text, ',') == parts, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(bytes_are_written_as_lower_case_hex) {
    BOOST_TEST(muster::to_hex("") == "");
    const std::string bytes("\0\x01\x7f\x80\xff", 5);
    BOOST_TEST(muster::to_hex(bytes) == "00017f80ff");
    for (const std::string_view text : {"00017f80ff", "00017F80FF", "00017f80Ff"}) {
        BOOST_TEST(muster::from_hex(text) == bytes, text);
    }
    BOOST_TEST(muster::from_hex("") == "");
    for (const std::string_view bad : {"0", "000", "0g", "g0", "0x01", " 00", "00 ", "0\n", "-1"}) {
        BOOST_TEST(!muster::from_hex(bad).has_value(), bad);
    }
}

BOOST_AUTO_TEST_CASE(base64url_matches_rfc_4648_without_padding) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"", ""},
        {"f", "Zg"},
        {"fo", "Zm8"},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg"},
        {"fooba", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff", "-_8"},
        {"\xff\xff\xff", "____"},
    };
    for (const auto& [bytes, text] : table) {
        BOOST_TEST(to_base64url(bytes) == text);
        const auto back = from_base64url(text);
        BOOST_TEST_REQUIRE(back.has_value());
        BOOST_TEST(*back == bytes);
    }
}

BOOST_AUTO_TEST_CASE(base64url_of_any_bytes_is_read_back) {
    std::mt19937 random(1);
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
        const auto back = from_base64url(to_base64url(bytes));
        BOOST_TEST_REQUIRE(back.has_value());
        BOOST_TEST(*back == bytes);
    }
}

BOOST_AUTO_TEST_CASE(two_base64url_texts_never_mean_the_same_bytes) {
    for (const std::string_view text :
         {"A", "AAAAA", "Zh", "Zm9", "Zm8=", "Zg==", "Zg=", "Zm9v=", "Zm 9v", " Zm9v", "Zm9v\n",
          "Zm+v", "Zm/v", "Zm9v.", "Zm9v\xc3\xa4", "__9"}) {
        BOOST_TEST(!from_base64url(text).has_value(), text);
    }
    BOOST_TEST(!from_base64url(std::string_view("Zg\0", 3)).has_value());
    // Each byte has exactly one text of two characters.
    int readable = 0;
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            const std::string text = {static_cast<char>(first), static_cast<char>(second)};
            const auto bytes = from_base64url(text);
            if (!bytes) continue;
            ++readable;
            BOOST_TEST(to_base64url(*bytes) == text);
        }
    }
    BOOST_TEST(readable == 256);
}

BOOST_AUTO_TEST_CASE(base32_matches_rfc_4648_without_padding) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"", ""},
        {"f", "MY"},
        {"fo", "MZXQ"},
        {"foo", "MZXW6"},
        {"foob", "MZXW6YQ"},
        {"fooba", "MZXW6YTB"},
        {"foobar", "MZXW6YTBOI"},
    };
    for (const auto& [bytes, text] : table) BOOST_TEST(muster::to_base32(bytes) == text);
    BOOST_TEST(muster::to_base32(std::string_view("\0\0\0\0\0", 5)) == "AAAAAAAA");
    BOOST_TEST(muster::to_base32("\xff\xff\xff\xff\xff") == "77777777");
}

BOOST_AUTO_TEST_CASE(a_number_must_be_the_whole_text_and_in_range) {
    BOOST_TEST(parse_number<int>("0").value() == 0);
    BOOST_TEST(parse_number<int>("42").value() == 42);
    BOOST_TEST(parse_number<int>("-7").value() == -7);
    BOOST_TEST(parse_number<int>("007").value() == 7);
    BOOST_TEST(parse_number<int>("2147483647").value() == std::numeric_limits<int>::max());
    BOOST_TEST(parse_number<std::int64_t>("-9223372036854775808").value() ==
               std::numeric_limits<std::int64_t>::min());
    BOOST_TEST(parse_number<double>("1.5").value() == 1.5);
    for (const std::string_view text :
         {"", " ", "+1", " 1", "1 ", "1x", "x", "-", "--1", "1.5", "1e3", "0x10", "1,000",
          "2147483648", "-2147483649", "99999999999999999999", "\xd9\xa1"}) {
        BOOST_TEST(!parse_number<int>(text).has_value(), text);
    }
    BOOST_TEST(!parse_number<unsigned>("-1").has_value());
    BOOST_TEST(!parse_number<std::uint8_t>("256").has_value());
    BOOST_TEST(parse_number<std::uint8_t>("255").value() == 255);
}

BOOST_AUTO_TEST_CASE(percent_encoding_escapes_every_reserved_character) {
    const std::string plain = "ABCXYZabcxyz0189-._~";
    BOOST_TEST(percent_encoded(plain) == plain);
    BOOST_TEST(percent_encoded("") == "");
    BOOST_TEST(percent_encoded(" +&=?#/:%\"'\n") == "%20%2B%26%3D%3F%23%2F%3A%25%22%27%0A");
    BOOST_TEST(percent_encoded(std::string("\0\xff\xc3\xa4", 4)) == "%00%FF%C3%A4");
}

BOOST_AUTO_TEST_SUITE_END()
