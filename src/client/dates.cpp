#include "client/dates.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace muster::client {
namespace {

using Shape = DateCell::Shape;

constexpr std::string_view kDateSeparators = "-/.";
constexpr std::size_t kSerialDigits = 5;

// YYYY-MM-DD; the parts need not be an existing day.
std::string date_text(int year, int month, int day) {
    std::string text = "0000-00-00";
    const auto put = [&text](int number, std::size_t last) {
        for (; number > 0; number /= 10) text[last--] = static_cast<char>('0' + number % 10);
    };
    put(year, 3);
    put(month, 6);
    put(day, 9);
    return text;
}

struct DigitGroup {
    int value = 0;
    std::size_t digits = 0;
};

// Removes the digits at the start of `rest`; no digits, or more than eight, give an empty group.
DigitGroup take_digits(std::string_view& rest) {
    constexpr std::size_t kMostDigits = 8;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::optional<int> value = parse_number<int>(rest.substr(0, end));
    if (!value || end > kMostDigits) return {};
    rest.remove_prefix(end);
    return {*value, end};
}

// Up to three groups with the same separator between them, and the text after them.
struct DateGroups {
    std::array<DigitGroup, 3> groups;
    std::size_t count = 0;
    char separator = 0;
    std::string_view rest;
};

DateGroups split_groups(std::string_view text) {
    DateGroups found;
    found.rest = text;
    for (;;) {
        const DigitGroup group = take_digits(found.rest);
        if (group.digits == 0) return {};
        found.groups[found.count++] = group;
        if (found.count == found.groups.size() || found.rest.empty()) return found;
        const char separator = found.rest.front();
        if (kDateSeparators.find(separator) == std::string_view::npos) return found;
        if (found.separator != 0 && separator != found.separator) return {};
        found.separator = separator;
        found.rest = found.rest.substr(1);
        if (separator == '.') found.rest = trimmed(found.rest);  // 31. 12. 1999
    }
}

bool take(std::string_view& rest, char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
}

// Removes a number of `fewest` or two digits from the start of `rest`.
std::optional<int> take_part(std::string_view& rest, std::size_t fewest, int most) {
    const DigitGroup group = take_digits(rest);
    if (group.digits < fewest || group.digits > 2 || group.value > most) return std::nullopt;
    return group.value;
}

// Removes ":SS" or ":SS.fff"; nullopt for a fault. True if all digits are zeros.
std::optional<bool> take_seconds(std::string_view& rest) {
    if (!take(rest, ':')) return true;
    const std::optional<int> seconds = take_part(rest, 2, 60);
    if (!seconds) return std::nullopt;
    if (!take(rest, '.')) return *seconds == 0;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end == 0) return std::nullopt;
    const bool is_zero = rest.substr(0, end).find_first_not_of('0') == std::string_view::npos;
    rest.remove_prefix(end);
    return *seconds == 0 && is_zero;
}

// Z, +HH, +HHMM or +HH:MM, to the end of the text.
bool is_zone(std::string_view text) {
    if (text == "Z") return true;
    if (!take(text, '+') && !take(text, '-')) return false;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 2 && text.size() == 5)
        return text[2] == ':' && text.find_first_not_of("0123456789", 3) == text.npos;
    return text.size() == digits && (digits == 2 || digits == 4);
}

// HH:MM, then seconds, AM or PM, and a zone. With a zone, only midnight: another time may be on
// another day where the member lives.
bool is_time_of_day(std::string_view text) {
    if (text.empty()) return true;
    if (!take(text, 'T') && !take(text, ' ') && !take(text, ',')) return false;
    text = trimmed(text);
    std::optional<int> hour = take_part(text, 1, 23);
    if (!hour || !take(text, ':')) return false;
    const std::optional<int> minute = take_part(text, 2, 59);
    const std::optional<bool> is_full_minute = take_seconds(text);
    if (!minute || !is_full_minute) return false;
    text = trimmed(text);
    const std::string_view half = text.substr(0, 2);
    if (equal_ignoring_case(half, "AM") || equal_ignoring_case(half, "PM")) {
        if (*hour > 12) return false;
        hour = *hour % 12 + (equal_ignoring_case(half, "PM") ? 12 : 0);
        text = trimmed(text.substr(2));
    }
    const bool is_midnight = *hour == 0 && *minute == 0 && *is_full_minute;
    return text.empty() || (is_midnight && is_zone(text));
}

DateCell one_group(const DateGroups& found) {
    const DigitGroup& group = found.groups[0];
    DateCell cell;
    if (group.digits == 8) {
        cell = {Shape::YearFirst, 0, group.value / 10'000, group.value / 100 % 100,
                group.value % 100};
    } else if (group.digits <= kSerialDigits && found.rest.empty()) {
        cell.shape = Shape::Serial;
        cell.first = group.value;
    }
    return cell;
}

DateCell two_groups(const DateGroups& found) {
    const DigitGroup& first = found.groups[0];
    const DigitGroup& second = found.groups[1];
    DateCell cell;
    if (!found.rest.empty()) return cell;
    if (first.digits <= 2 && second.digits <= 2) {
        cell.shape = Shape::NoYear;
    } else if (first.digits == kSerialDigits && found.separator == '.') {
        cell.shape = Shape::Serial;  // with the time as a fraction
        cell.first = first.value;
    }
    return cell;
}

DateCell three_groups(const DateGroups& found) {
    const DigitGroup& first = found.groups[0];
    const DigitGroup& second = found.groups[1];
    const DigitGroup& third = found.groups[2];
    DateCell cell;
    cell.separator = found.separator;
    if (second.digits > 2) return cell;
    if (first.value == 0 && second.value == 0 && third.value == 0) {
        cell.shape = Shape::Zero;
    } else if (first.digits == 4 && third.digits <= 2) {
        cell = {Shape::YearFirst, found.separator, first.value, second.value, third.value};
    } else if (first.digits <= 2 && third.digits == 4) {
        cell = {Shape::YearLast, found.separator, third.value, first.value, second.value};
    } else if (first.digits <= 2 && third.digits <= 2) {
        cell.shape = Shape::ShortYear;
    }
    return cell;
}

// Excel counts from 1900-01-01 = 1, and counts a 29 February 1900 (60) that did not exist.
std::string serial_date(int serial) {
    using std::chrono::days;
    const auto epoch =
        std::chrono::sys_days(std::chrono::year{1899} / 12 / (serial < 60 ? 31 : 30));
    if (serial < 1 || serial == 60) return "";
    const std::chrono::year_month_day date(epoch + days(serial));
    return date_text(static_cast<int>(date.year()), static_cast<int>(unsigned{date.month()}),
                     static_cast<int>(unsigned{date.day()}));
}

}  // namespace

DateCell read_date(std::string_view cell) {
    const bool is_vcard = cell.starts_with("--");  // --04-17
    const DateGroups found = split_groups(is_vcard ? cell.substr(2) : cell);
    if (is_vcard) return {found.count == 0 ? Shape::None : Shape::NoYear};
    if (found.count == 0 || !is_time_of_day(found.rest)) return {};
    switch (found.count) {
        case 1:
            return one_group(found);
        case 2:
            return two_groups(found);
        default:
            return three_groups(found);
    }
}

std::optional<std::string> iso_date(const DateCell& cell, DateOrder order) {
    const bool is_year_last = cell.shape == Shape::YearLast;
    std::string text;
    if (is_year_last && order == DateOrder::DayFirst) {
        text = date_text(cell.year, cell.second, cell.first);
    } else if (cell.shape == Shape::YearFirst || (is_year_last && order == DateOrder::MonthFirst)) {
        text = date_text(cell.year, cell.first, cell.second);
    } else if (cell.shape == Shape::Serial && order == DateOrder::Serial) {
        text = serial_date(cell.first);
    }
    if (!Date::parse(text)) return std::nullopt;
    return text;
}

std::optional<DatePattern> parse_date_pattern(std::string_view text) {
    if (equal_ignoring_case(text, "excel")) return DatePattern{DateOrder::Serial, 0};
    constexpr std::array kOrders = {DateOrder::YearFirst, DateOrder::DayFirst,
                                    DateOrder::MonthFirst};
    for (const DateOrder order : kOrders) {
        for (const char separator : kDateSeparators) {
            const DatePattern pattern{order, separator};
            if (equal_ignoring_case(text, date_pattern_text(pattern))) return pattern;
        }
    }
    return std::nullopt;
}

std::string date_pattern_text(const DatePattern& pattern) {
    const std::string separator(1, pattern.separator);
    switch (pattern.order) {
        case DateOrder::YearFirst:
            return "YYYY" + separator + "MM" + separator + "DD";
        case DateOrder::DayFirst:
            return "DD" + separator + "MM" + separator + "YYYY";
        case DateOrder::MonthFirst:
            return "MM" + separator + "DD" + separator + "YYYY";
        case DateOrder::Serial:
            return "excel";
    }
    return {};
}

}  // namespace muster::client
