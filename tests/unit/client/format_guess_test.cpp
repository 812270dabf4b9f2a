// client/format_guess.hpp: the formats of columns, from all of their cells.
#include "client/format_guess.hpp"

#include "rules/attributes.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;

namespace {

using rules::AttributeType;

const rules::AttributeRegistry& format_registry() {
    static const rules::AttributeRegistry kRegistry({
        {"joined", "Joined", AttributeType::Date, {}, true},
        {"left", "Left", AttributeType::Date, {}, true},
        {"fee", "Fee", AttributeType::Number, {}, true},
        {"donation", "Donation", AttributeType::Number, {}, true},
        {"interests", "Interests", AttributeType::MultiChoice, {"A, B", "news", "events"}, true},
    });
    return kRegistry;
}

FormatGuess guess_of(const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows,
                     const FormatOptions& options = {}) {
    FormatGuess guess(route_columns(unique_column_names(header), {}, format_registry()),
                      format_registry(), options);
    for (const auto& row : rows) guess.add(row);
    return guess;
}

// The dates of a column "Birthday" with these cells.
std::string date_format(const std::vector<std::string>& cells) {
    FormatGuess guess = guess_of({"Birthday", "Email"}, {});
    for (const std::string& cell : cells) guess.add({cell, "a@example.org"});
    if (!guess.ambiguity().column.empty()) return "ambiguous " + guess.ambiguity().sample;
    return date_pattern_text(guess.formats()[0].date);
}

std::string text_of_column(const FormatGuess& guess, std::size_t column, ValueKind kind) {
    return format_text(kind, guess.formats()[column]);
}

void refuses_formats(const FormatOptions& options, std::string_view part) {
    BOOST_CHECK_EXCEPTION(guess_of({"Email", "Birthday", "Notes"}, {}, options), UsageError,
                          [&](const UsageError& error) {
                              BOOST_TEST_MESSAGE(error.what());
                              return std::string_view(error.what()).find(part) !=
                                     std::string_view::npos;
                          });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_format_guess)

BOOST_AUTO_TEST_CASE(one_cell_shows_the_order_of_all_dates_in_its_column) {
    BOOST_TEST(date_format({"03/07/1985", "12/31/1999"}) == "MM/DD/YYYY");
    BOOST_TEST(date_format({"03/07/1985", "31/12/1999", "01/02/1990"}) == "DD/MM/YYYY");
    BOOST_TEST(date_format({"03.07.1985"}) == "DD.MM.YYYY");
    BOOST_TEST(date_format({"31-12-1999"}) == "DD-MM-YYYY");
    BOOST_TEST(date_format({"1985-03-07", ""}) == "YYYY-MM-DD");
    BOOST_TEST(date_format({"", "n/a"}) == "YYYY-MM-DD");
    BOOST_TEST(date_format({"31113", "36526"}) == "excel");
}

BOOST_AUTO_TEST_CASE(years_and_mixed_columns_are_not_day_numbers) {
    BOOST_TEST(date_format({"1985", "1990"}) == "YYYY-MM-DD");
    BOOST_TEST(date_format({"31113", "31.12.1999"}) == "DD.MM.YYYY");
    BOOST_TEST(date_format({"1985-03-07", "31113"}) == "YYYY-MM-DD");
    BOOST_TEST(date_format({"31113", "1985-03-07 00:00"}) == "YYYY-MM-DD");
}

BOOST_AUTO_TEST_CASE(a_cell_that_is_no_date_shows_no_order) {
    for (const char* cell : {"05/45/1990", "99/05/1990", "00/13/1990", "13/00/1990", "13/05/0000",
                             "05/13/0000", "31/02/2020", "02/31/2020", "29/02/2019"}) {
        BOOST_TEST_CONTEXT(cell) {
            BOOST_TEST(date_format({"03/07/1985", cell}) == "ambiguous 03/07/1985");
            BOOST_TEST(date_format({cell, "12/31/1999"}) == "MM/DD/YYYY");
            BOOST_TEST(date_format({cell, "31/12/1999"}) == "DD/MM/YYYY");
        }
    }
    BOOST_TEST(date_format({"03/07/1985", "29/02/2020"}) == "DD/MM/YYYY");
    BOOST_TEST(date_format({"03/07/1985", "05.45.1990"}) == "ambiguous 03/07/1985");
}

BOOST_AUTO_TEST_CASE(dates_with_points_decide_their_own_column_only) {
    BOOST_TEST(date_format({"03/07/1985", "03.07.1985"}) == "DD/MM/YYYY");
    const FormatGuess guess =
        guess_of({"Email", "Birthday", "Joined"}, {{"a@example.org", "03/07/1985", "03.07.2020"}});
    BOOST_TEST(guess.ambiguity().column == "Birthday");
    BOOST_TEST(text_of_column(guess, 2, ValueKind::Date) == "dates as DD.MM.YYYY");
    const FormatGuess proved =
        guess_of({"Email", "Birthday", "Joined"}, {{"a@example.org", "03/07/1985", "31.12.2020"}});
    BOOST_TEST(proved.ambiguity().column == "");
}

BOOST_AUTO_TEST_CASE(cells_that_contradict_each_other_are_named) {
    const FormatGuess own = guess_of({"Email", "Birthday"}, {{"a@example.org", "03/07/1985"},
                                                             {"b@example.org", "12/31/1999"},
                                                             {"c@example.org", "31/12/1999"}});
    BOOST_TEST(own.ambiguity().contradiction ==
               "\"31/12/1999\" has the day first, and \"12/31/1999\" the month");
    const FormatGuess others =
        guess_of({"Email", "Birthday", "Joined", "Left"},
                 {{"a@example.org", "03/07/1985", "12/31/1999", "31/12/1999"}});
    BOOST_TEST(others.ambiguity().column == "Birthday");
    BOOST_TEST(others.ambiguity().contradiction ==
               "\"31/12/1999\" has the day first, and \"12/31/1999\" the month");
    const FormatGuess none = guess_of({"Email", "Birthday"}, {{"a@example.org", "03/07/1985"}});
    BOOST_TEST(none.ambiguity().contradiction == "");
}

BOOST_AUTO_TEST_CASE(an_order_that_no_cell_shows_is_ambiguous) {
    BOOST_TEST(date_format({"03/07/1985", "01/02/1990"}) == "ambiguous 03/07/1985");
    BOOST_TEST(date_format({"03/03/1985"}) == "DD/MM/YYYY");  // the same in both orders
    BOOST_TEST(date_format({"03/07/1985", "12/31/1999", "31/12/1999"}) == "ambiguous 03/07/1985");
}

BOOST_AUTO_TEST_CASE(another_column_or_an_answer_decides_an_ambiguous_order) {
    const FormatGuess by_other =
        guess_of({"Email", "Birthday", "Joined"}, {{"a@example.org", "03/07/1985", "12/31/1999"}});
    BOOST_TEST(by_other.ambiguity().column == "");
    BOOST_TEST(text_of_column(by_other, 1, ValueKind::Date) == "dates as MM/DD/YYYY");
    FormatGuess answered = guess_of({"Email", "Birthday"}, {{"a@example.org", "03/07/1985"}});
    BOOST_TEST(answered.ambiguity().column == "Birthday");
    answered.decide(DateOrder::MonthFirst);
    BOOST_TEST(answered.ambiguity().column == "");
    BOOST_TEST(text_of_column(answered, 1, ValueKind::Date) == "dates as MM/DD/YYYY");
}

BOOST_AUTO_TEST_CASE(one_number_shows_the_decimal_mark_of_its_column) {
    const auto mark = [](const std::vector<std::string>& cells) {
        FormatGuess guess = guess_of({"Email", "Fee"}, {});
        for (const std::string& cell : cells) guess.add({"a@example.org", cell});
        return guess.formats()[1].decimal;
    };
    BOOST_TEST((mark({"1,234", "12,5"}) == DecimalMark::Comma));
    BOOST_TEST((mark({"1.234", "1.234,50"}) == DecimalMark::Comma));
    BOOST_TEST((mark({"1,234", "12.5"}) == DecimalMark::Point));
    BOOST_TEST((mark({"1,234", "7"}) == DecimalMark::Unknown));
    BOOST_TEST((mark({"12,5", "12.5"}) == DecimalMark::Ambiguous));
    BOOST_TEST((mark({"1.234", "7"}) == DecimalMark::Unknown));
}

BOOST_AUTO_TEST_CASE(a_decimal_comma_of_another_column_makes_one_point_ambiguous) {
    const FormatGuess guess =
        guess_of({"Email", "Fee", "Donation"},
                 {{"a@example.org", "1.234", "12,50"}, {"b@example.org", "2.500", "7"}});
    BOOST_TEST((guess.formats()[1].decimal == DecimalMark::Ambiguous));
    BOOST_TEST((guess.formats()[2].decimal == DecimalMark::Comma));
}

BOOST_AUTO_TEST_CASE(the_choices_show_the_separator_of_a_list) {
    const auto separator = [](const std::vector<std::string>& cells) {
        FormatGuess guess = guess_of({"Email", "Interests"}, {});
        for (const std::string& cell : cells) guess.add({"a@example.org", cell});
        return guess.formats()[1].list_separator;
    };
    BOOST_TEST(separator({"news; events"}) == ";");
    BOOST_TEST(separator({"news ::: events", "news"}) == ":::");
    BOOST_TEST(separator({"news, events"}) == ",");
    BOOST_TEST(separator({"A, B", "A, B | news"}) == "|");
    BOOST_TEST(separator({"what"}) == "");
}

BOOST_AUTO_TEST_CASE(options_override_the_guess) {
    const std::vector<std::vector<std::string>> rows = {
        {"a@example.org", "31/12/1999", "12/31/1999"}};
    const std::vector<std::string> header = {"Email", "Birthday", "Joined"};
    FormatOptions options;
    options.date_format = "MM/DD/YYYY";
    BOOST_TEST(text_of_column(guess_of(header, rows, options), 1, ValueKind::Date) ==
               "dates as MM/DD/YYYY");
    options.columns = {{"birthday", "YYYY-MM-DD"}};
    BOOST_TEST(text_of_column(guess_of(header, rows, options), 1, ValueKind::Date) ==
               "dates as YYYY-MM-DD");
    BOOST_TEST(text_of_column(guess_of(header, rows, options), 2, ValueKind::Date) ==
               "dates as MM/DD/YYYY");
    FormatOptions strict;
    strict.strict = true;
    for (const ValueFormat& format : guess_of(header, rows, strict).formats())
        BOOST_TEST(format.as_is);
}

BOOST_AUTO_TEST_CASE(a_wrong_format_option_names_what_is_allowed) {
    refuses_formats({"", {{"No such", "as-is"}}, false}, "no such column");
    refuses_formats({"", {{"Notes", "as-is"}}, false}, "the column is ignored");
    refuses_formats({"", {{"Birthday", "DD.MM"}}, false}, "a date format such as DD.MM.YYYY");
    refuses_formats({"", {{"Email", "excel"}}, false}, "use as-is");
}

BOOST_AUTO_TEST_SUITE_END()
