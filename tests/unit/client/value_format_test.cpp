// client/value_format.hpp and country_names.hpp: values as people write them.
#include "client/value_format.hpp"

#include "client/country_names.hpp"

#include "print.hpp"
#include "processor_time.hpp"

using namespace muster;
using namespace muster::client;

namespace {

std::string number(const char* cell, DecimalMark mark) {
    return json_number(cell, mark).value_or("-");
}

std::string choice(const char* cell) {
    static const std::vector<std::string> kChoices = {"S", "M", "XL", "one size", "s-long"};
    return choice_of(cell, kChoices, {}).value_or("-");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_value_format)

BOOST_AUTO_TEST_CASE(countries_are_known_by_name_in_four_languages_and_by_alpha_3_code) {
    for (const auto& [name, code] : std::initializer_list<std::pair<const char*, const char*>>{
             {"United States", "US"},
             {"USA", "US"},
             {"U.S.A.", "US"},
             {"Vereinigte Staaten", "US"},
             {"États-Unis", "US"},
             {"ETATS-UNIS", "US"},
             {"Estados Unidos", "US"},
             {"EE.UU.", "US"},
             {"Germany", "DE"},
             {"Deutschland", "DE"},
             {"DEUTSCHLAND", "DE"},
             {"Allemagne", "DE"},
             {"Alemania", "DE"},
             {"DEU", "DE"},
             {"D", "DE"},
             {"Österreich", "AT"},
             {"OESTERREICH", "AT"},
             {"Osterreich", "AT"},
             {"\x4F\xCC\x88sterreich", "AT"},  // as macOS writes it
             {"UK", "GB"},
             {"England", "GB"},
             {"Royaume-Uni", "GB"},
             {"Großbritannien", "GB"},
             {"España", "ES"},
             {"Côte d'Ivoire", "CI"},
             {"Côte d’Ivoire", "CI"},
             {"Korea, Republic of", "KR"},
             {"Republic of Korea", "KR"},
             {"South Korea", "KR"},
             {"The Netherlands", "NL"},
             {"Pays-Bas", "NL"},
             {"Türkei", "TR"},
             {"Schweiz", "CH"},
             {"Suisse", "CH"},
             {"Suiza", "CH"},
             {"Tschechien", "CZ"},
             {"Curaçao", "CW"},
         }) {
        BOOST_TEST_CONTEXT(name) {
            BOOST_TEST(country_code(name).value_or("-") == code);
        }
    }
    for (const char* name : {"", "DE", "Atlantis", "Europe", "Republik", "Österreich-Ungarn"})
        BOOST_TEST(!country_code(name), name);
    BOOST_TEST(!country_code(std::string(1 << 20, 'a')));
}

BOOST_AUTO_TEST_CASE(numbers_are_read_with_the_mark_of_their_column) {
    struct Case {
        const char* cell;
        const char* unknown;
        const char* point;
        const char* comma;
    };
    for (const Case& c : {
             Case{"12", "12", "12", "12"},
             Case{"12.5", "12.5", "12.5", "12.5"},
             Case{"12,50", "12.50", "12.50", "12.50"},
             Case{"-0,5", "-0.5", "-0.5", "-0.5"},
             Case{"1,234", "-", "1234", "1.234"},
             Case{"1.234", "1.234", "1.234", "1234"},
             Case{"-123,456", "-", "-123456", "-123.456"},
             Case{"-123.456", "-123.456", "-123.456", "-123456"},
             Case{"1.5e3", "1.5e3", "1.5e3", "1.5e3"},
             Case{"1,234.5", "1234.5", "1234.5", "1234.5"},
             Case{"1.234,50", "1234.50", "1234.50", "1234.50"},
             Case{"1,234,567", "1234567", "1234567", "1234567"},
             Case{"1.234.567", "1234567", "1234567", "1234567"},
             Case{"1 234,5", "1234.5", "1234.5", "1234.5"},
             Case{"1\xC2\xA0"
                  "234,5",
                  "1234.5", "1234.5", "1234.5"},
             Case{"1'234.50", "1234.50", "1234.50", "1234.50"},
             Case{"+7", "7", "7", "7"},
             Case{"0,125", "0.125", "0.125", "0.125"},
             Case{"1234,567", "1234.567", "1234.567", "1234.567"},
             Case{"12,34,567", "-", "-", "-"},
             Case{"1e3", "1e3", "1e3", "1e3"},
             Case{"007", "-", "-", "-"},
             Case{"", "-", "-", "-"},
             Case{"12 %", "-", "-", "-"},
             Case{"NaN", "-", "-", "-"},
             Case{"1e999", "-", "-", "-"},
             Case{",", "-", "-", "-"},
         }) {
        BOOST_TEST_CONTEXT(c.cell) {
            BOOST_TEST(number(c.cell, DecimalMark::Unknown) == c.unknown);
            BOOST_TEST(number(c.cell, DecimalMark::Point) == c.point);
            BOOST_TEST(number(c.cell, DecimalMark::Comma) == c.comma);
        }
    }
    BOOST_TEST(number("1.234", DecimalMark::Ambiguous) == "-");
    BOOST_TEST(number("-1,234", DecimalMark::Ambiguous) == "-");
    BOOST_TEST(number("1.23", DecimalMark::Ambiguous) == "1.23");
    BOOST_TEST(number("1.234.567", DecimalMark::Ambiguous) == "1234567");
    BOOST_TEST(number("12", DecimalMark::Ambiguous) == "12");
}

BOOST_AUTO_TEST_CASE(only_numbers_that_the_api_accepts_are_json_numbers) {
    for (const char* text : {"0", "-0", "-1", "12", "9223372036854775807", "9223372036854775808",
                             "99999999999999999999", "1.50", "-0.5", "1e3", "1.5E-7"})
        BOOST_TEST(is_json_number(text), text);
    for (const char* text : {"", "-", "+1", "007", "-007", "1,5", ".5", "1.", "1e", "1e+", "0x10",
                             "NaN", "inf", "1e999", "1 000", "12a"})
        BOOST_TEST(!is_json_number(text), text);
    const std::string most(308, '9');
    BOOST_TEST(is_json_number(most));
    BOOST_TEST(is_json_number("-" + most));
    BOOST_TEST(!is_json_number(most + "9"));
    BOOST_TEST(!is_json_number("-" + most + "9"));
}

BOOST_AUTO_TEST_CASE(booleans_are_words_of_seven_languages_or_of_the_format) {
    for (const char* word : {"true", "Yes", "Y", "1", "ja", "J", "WAHR", "oui", "Sí", "sim", "vero",
                             "x", "X", "✓", "on"})
        BOOST_TEST((boolean_of(word, {}) == true), word);
    for (const char* word : {"false", "No", "N", "0", "nein", "FALSCH", "non", "não", "nee", "off"})
        BOOST_TEST((boolean_of(word, {}) == false), word);
    for (const char* word : {"", "maybe", "2", "yes and no"})
        BOOST_TEST(!boolean_of(word, {}).has_value(), word);
    ValueFormat words;
    BOOST_REQUIRE(apply_format(ValueKind::Boolean, "Mitglied/Gast", words));
    BOOST_TEST((boolean_of("mitglied", words) == true));
    BOOST_TEST((boolean_of("GAST", words) == false));
    ValueFormat strict;
    strict.as_is = true;
    BOOST_TEST((boolean_of("Ja", strict) == true));
    BOOST_TEST(!boolean_of("oui", strict).has_value());
}

BOOST_AUTO_TEST_CASE(a_choice_is_found_without_regard_to_case) {
    BOOST_TEST(choice("S") == "S");
    BOOST_TEST(choice("xl") == "XL");
    BOOST_TEST(choice("One Size") == "one size");
    BOOST_TEST(choice("L") == "-");
    BOOST_TEST(choice("slong") == "-");
    ValueFormat strict;
    strict.as_is = true;
    BOOST_TEST(!choice_of("xl", {"XL"}, strict));
    BOOST_TEST(!choice_of("A", {"a", "A "}, strict));
    BOOST_TEST(!choice_of("ab", {"AB", "Ab"}, {}));
}

BOOST_AUTO_TEST_CASE(a_choice_is_found_in_the_spelling_of_macos) {
    ValueFormat strict;
    strict.as_is = true;
    BOOST_TEST(choice_of("Cafe\u0301", {"Tee", "Caf\u00e9"}, strict) == "Caf\u00e9");
    BOOST_TEST(choice_of("cafe\u0301", {"Tee", "Caf\u00e9"}, {}) == "Caf\u00e9");
}

BOOST_AUTO_TEST_CASE(a_list_is_split_at_its_separator_and_has_each_entry_once) {
    using Parts = std::vector<std::string_view>;
    BOOST_TEST(list_parts(" a ;b;; a;c|d", {}) == Parts({"a", "b", "c|d"}));
    BOOST_TEST(list_parts("a|b, c", {}) == Parts({"a", "b, c"}));
    BOOST_TEST(list_parts("a, b", {}) == Parts({"a", "b"}));
    ValueFormat format;
    format.list_separator = ":::";
    BOOST_TEST(list_parts("a;b:::c", format) == Parts({"a;b", "c"}));
}

// A cell of 1 MiB, which took minutes when each entry was compared with all others.
BOOST_AUTO_TEST_CASE(a_long_list_takes_bounded_processor_time) {
    std::string cell;
    for (int i = 0; i < 150'000; ++i) cell += std::to_string(1'000'000 + i) + ";";
    std::size_t parts = 0;
    const double used =
        muster::test::processor_milliseconds([&] { parts = list_parts(cell, {}).size(); });
    BOOST_TEST(parts == 150'000U);
    BOOST_TEST(used < muster::test::processor_limit());
}

BOOST_AUTO_TEST_CASE(a_format_belongs_to_a_kind_of_column) {
    struct Case {
        ValueKind kind;
        const char* good;
        const char* bad;
    };
    for (const Case& c : {
             Case{ValueKind::Date, "DD.MM.YYYY", "decimal-comma"},
             Case{ValueKind::Date, "excel", "DD.MM"},
             Case{ValueKind::Number, "decimal-comma", "comma"},
             Case{ValueKind::Number, "decimal-point", "excel"},
             Case{ValueKind::Boolean, "on/off", "on"},
             Case{ValueKind::Boolean, "a/b", "a/a"},
             Case{ValueKind::Choices, "split::::", "split:"},
             Case{ValueKind::Country, "as-is", "names"},
             Case{ValueKind::Choice, "as-is", "split:;"},
             Case{ValueKind::Text, "as-is", "YYYY-MM-DD"},
         }) {
        BOOST_TEST_CONTEXT(c.good) {
            ValueFormat format;
            BOOST_TEST(apply_format(c.kind, c.good, format));
            BOOST_TEST(!apply_format(c.kind, c.bad, format));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
