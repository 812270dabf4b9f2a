// client/dates.hpp: dates as spreadsheets and exports write them.
#include "client/dates.hpp"

#include "print.hpp"

using namespace muster::client;

namespace {

std::string read(const char* cell, DateOrder order) {
    return iso_date(read_date(cell), order).value_or("-");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_dates)

BOOST_AUTO_TEST_CASE(a_date_is_read_in_the_order_of_its_column) {
    struct Case {
        const char* cell;
        const char* day_first;
        const char* month_first;
    };
    for (const Case& c : {
             Case{"1985-03-07", "1985-03-07", "1985-03-07"},
             Case{"1985/3/7", "1985-03-07", "1985-03-07"},
             Case{"19850307", "1985-03-07", "1985-03-07"},
             Case{"1985-03-07T23:59:59.000", "1985-03-07", "1985-03-07"},
             Case{"1985-03-07T00:00:00.000Z", "1985-03-07", "1985-03-07"},
             Case{"1985-03-07T23:59:59.000Z", "-", "-"},  // another day east of Greenwich
             Case{"1985-03-07 22:00:00+0000", "-", "-"},
             Case{"3/7/1985, 11:05 PM", "1985-07-03", "1985-03-07"},
             Case{"1985-03-07T24:30", "-", "-"},
             Case{"1985-03-07 1:2:3:4", "-", "-"},
             Case{"1985-03-07 1985", "-", "-"},
             Case{"1985-03-07T13:00 PM", "-", "-"},
             Case{"1985-03-07 00:00:00+01:00", "1985-03-07", "1985-03-07"},
             Case{"07.03.1985", "1985-03-07", "1985-07-03"},
             Case{"7. 3. 1985", "1985-03-07", "1985-07-03"},
             Case{"3/7/1985", "1985-07-03", "1985-03-07"},
             Case{"03-07-1985", "1985-07-03", "1985-03-07"},
             Case{"12/31/1999 12:00 AM", "-", "1999-12-31"},
             Case{"31.12.1999 0:00", "1999-12-31", "-"},
             Case{"29.02.2000", "2000-02-29", "-"},
             Case{"29.02.1999", "-", "-"},
             Case{"31/04/1999", "-", "-"},
         }) {
        BOOST_TEST_CONTEXT(c.cell) {
            BOOST_TEST(read(c.cell, DateOrder::DayFirst) == c.day_first);
            BOOST_TEST(read(c.cell, DateOrder::MonthFirst) == c.month_first);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_day_numbers_of_excel_are_read) {
    for (const auto& [cell, date] : std::initializer_list<std::pair<const char*, const char*>>{
             {"1", "1900-01-01"},
             {"59", "1900-02-28"},
             {"60", "-"},  // a 29 February 1900, which did not exist
             {"61", "1900-03-01"},
             {"31113", "1985-03-07"},
             {"31113.75", "1985-03-07"},
             {"36526", "2000-01-01"},
             {"0", "-"},
             {"123456", "-"},
         }) {
        BOOST_TEST_CONTEXT(cell) {
            BOOST_TEST(read(cell, DateOrder::Serial) == date);
        }
    }
    BOOST_TEST(read("31113", DateOrder::DayFirst) == "-");
}

BOOST_AUTO_TEST_CASE(a_cell_that_is_no_whole_date_has_its_own_shape) {
    using Shape = DateCell::Shape;
    for (const auto& [cell, shape] : std::initializer_list<std::pair<const char*, Shape>>{
             {"04/17", Shape::NoYear},
             {"--04-17", Shape::NoYear},
             {"--0417", Shape::NoYear},
             {"3/7/85", Shape::ShortYear},
             {"0/0/00", Shape::Zero},
             {"0000-00-00", Shape::Zero},
             {"0000-00-00 00:00:00", Shape::Zero},
             {"", Shape::None},
             {"--", Shape::None},
             {"soon", Shape::None},
             {"1985-03", Shape::None},
             {"03/1985", Shape::None},
             {"1/2/3/4", Shape::None},
             {"1985-03-07 evening", Shape::None},
             {"1985-03/07", Shape::None},
             {"999999999999", Shape::None},
         }) {
        BOOST_TEST_CONTEXT(cell) {
            BOOST_TEST((read_date(cell).shape == shape));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_pattern_is_written_as_it_is_read) {
    for (const char* text : {"YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY",
                             "MM-DD-YYYY", "excel"}) {
        BOOST_REQUIRE(parse_date_pattern(text));
        BOOST_TEST(date_pattern_text(*parse_date_pattern(text)) == text);
    }
    BOOST_TEST((parse_date_pattern("dd.mm.yyyy") == parse_date_pattern("DD.MM.YYYY")));
    for (const char* text : {"", "DD.MM.YY", "YYYY-DD-MM", "DDMMYYYY", "d.m.Y"})
        BOOST_TEST(!parse_date_pattern(text), text);
}

BOOST_AUTO_TEST_SUITE_END()
