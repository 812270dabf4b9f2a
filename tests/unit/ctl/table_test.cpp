// ctl/table.hpp: aligned columns, and cells that a terminal does not obey.
#include "ctl/table.hpp"

#include "print.hpp"

using namespace muster;
using ctl::Table;

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(columns_are_aligned_by_characters) {
    Table table({"ID", "NAME", "STATE"});
    table.add({"1", "Zo\u00eb", "active"});
    table.add({"22", "", "revoked"});
    BOOST_TEST(table.text() ==
               "ID  NAME  STATE\n"
               "1   Zo\u00eb   active\n"
               "22  -     revoked\n");
    BOOST_TEST(Table({"ID", "NAME"}).text() == "ID  NAME\n");
}

BOOST_AUTO_TEST_CASE(a_column_is_at_most_64_columns_wide_and_a_cell_is_whole) {
    Table table({"NAME", "ID"});
    const std::string name(255, 'x');
    table.add({name, "1"});
    table.add({"a", "2"});
    const std::string wide = std::string(64 - 4, ' ');
    BOOST_TEST(table.text() ==
               "NAME" + wide + "  ID\n" + name + "  1\n" + "a" + std::string(63, ' ') + "  2\n");
}

BOOST_AUTO_TEST_CASE(columns_are_aligned_by_the_width_on_a_terminal) {
    Table table({"NAME", "KEY", "STATE"});
    const std::string key = "ek_live_" + std::string(49, 'k');  // a publishable key
    table.add({"\u6771\u4eac", key, "active"});
    table.add({"Zoe\u0308", "-", "revoked"});
    BOOST_TEST(table.text() == "NAME  KEY" + std::string(56, ' ') + "STATE\n" + "\u6771\u4eac  " +
                                   key + "  active\n" + "Zoe\u0308   -" + std::string(58, ' ') +
                                   "revoked\n");
}

BOOST_AUTO_TEST_CASE(cells_are_printable) {
    Table table({"A", "B"});
    table.add({"x\ny", "z"});
    BOOST_TEST(table.text() == "A       B\nx\\x0ay  z\n");
}

BOOST_AUTO_TEST_CASE(a_time_is_shown_to_the_second) {
    BOOST_TEST(ctl::time_cell(Timestamp(1'700'000'000'123)) == "2023-11-14T22:13:20Z");
    BOOST_TEST(ctl::time_cell(std::nullopt) == "never");
    BOOST_TEST(ctl::time_cell(std::nullopt, "-") == "-");
}

BOOST_AUTO_TEST_SUITE_END()
