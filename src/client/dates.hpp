// Dates as spreadsheets and exports write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::client {

// The order of a column's dates. A year of four digits at the start is read in every order.
enum class DateOrder : std::uint8_t { YearFirst, DayFirst, MonthFirst, Serial };

// The parts of a cell, before the order of day and month is known.
struct DateCell {
    enum class Shape : std::uint8_t {
        None,       // not a date
        Zero,       // 0/0/00 or 0000-00-00: how Outlook and MySQL write that there is no date
        YearFirst,  // 1985-03-07, 1985/3/7, 19850307, each with or without a time
        YearLast,   // 07.03.1985, 3/7/1985, 07-03-1985, each with or without a time
        Serial,     // 31113: the day number of Excel
        NoYear,     // 04/17, --04-17
        ShortYear,  // 3/7/85: the century is not known
    };
    Shape shape = Shape::None;
    char separator = 0;
    int year = 0;
    int first = 0;  // of YearFirst: the month; of Serial: the number
    int second = 0;
};

// A cell that looks like YYYY-MM-DD already.
[[nodiscard]] constexpr bool is_iso_shape(std::string_view cell) {
    return cell.size() == 10 && cell[4] == '-' && cell[7] == '-';
}

[[nodiscard]] DateCell read_date(std::string_view cell);

// YYYY-MM-DD of an existing day, or nullopt.
[[nodiscard]] std::optional<std::string> iso_date(const DateCell& cell, DateOrder order);

struct DatePattern {
    DateOrder order = DateOrder::YearFirst;
    char separator = '-';
    bool operator==(const DatePattern&) const = default;
};
// Reads "DD.MM.YYYY" with any of . / - between the parts, and "excel".
[[nodiscard]] std::optional<DatePattern> parse_date_pattern(std::string_view text);
[[nodiscard]] std::string date_pattern_text(const DatePattern& pattern);

}  // namespace muster::client
