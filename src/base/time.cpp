#include "base/time.hpp"

#include "base/test_clock.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace muster {
namespace {

namespace chrono = std::chrono;

Milliseconds clock_offset() {
    return test_clock_offset ? test_clock_offset() : Milliseconds(0);
}

// The number of `count` digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return -1;
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

chrono::year_month_day calendar_day(int year, int month, int day) {
    return chrono::year(year) / chrono::month(static_cast<unsigned>(month)) /
           chrono::day(static_cast<unsigned>(day));
}

// Long enough for years that a damaged row may hold: -32767 to 32767.
using TextBuffer = std::array<char, 32>;

// Writes the last `width` digits and returns the place after them.
char* put_digits(char* to, unsigned value, std::size_t width) {
    for (std::size_t i = width; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
    return to + width;
}

char* put_date(char* to, const Date& date) {
    const auto year = static_cast<unsigned>(std::abs(date.year()));
    if (date.year() < 0) *to++ = '-';
    std::size_t width = date.year() < 0 ? 3 : 4;  // the sign counts as a digit
    if (year > 999) width = year > 9999 ? 5 : 4;
    to = put_digits(to, year, width);
    *to++ = '-';
    to = put_digits(to, static_cast<unsigned>(date.month()), 2);
    *to++ = '-';
    return put_digits(to, static_cast<unsigned>(date.day()), 2);
}

struct Split {
    std::int64_t day;   // since 1970, negative before
    std::int64_t rest;  // milliseconds since midnight
};

// For any number: a damaged row may hold one that overflows when a day is converted back.
Split split_day(std::int64_t milliseconds) {
    constexpr std::int64_t kDay = 86'400'000;
    const std::int64_t rest = milliseconds % kDay;
    if (rest < 0) return {milliseconds / kDay - 1, rest + kDay};
    return {milliseconds / kDay, rest};
}

// The part after the seconds: an optional fraction (truncated to milliseconds) and a zone.
struct Tail {
    int milliseconds = 0;
    int offset_minutes = 0;
};

std::optional<Tail> parse_tail(std::string_view text) {
    Tail tail;
    if (!text.empty() && (text.front() == '.' || text.front() == ',')) {
        text.remove_prefix(1);
        int scale = 100;
        std::size_t count = 0;
        while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
            tail.milliseconds += (text[count] - '0') * scale;
            scale /= 10;
            ++count;
        }
        if (count == 0 || count > 9) return std::nullopt;
        text.remove_prefix(count);
    }
    if (text == "Z" || text == "z") return tail;
    if (text.size() < 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    const bool colon = text.size() == 6 && text[3] == ':';
    if (!colon && text.size() != 5) return std::nullopt;
    const int hours = digits(text, 1, 2);
    const int minutes = digits(text, colon ? 4 : 3, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
    tail.offset_minutes = (hours * 60 + minutes) * (text[0] == '-' ? -1 : 1);
    return tail;
}

// Milliseconds since 1970, negative before.
std::optional<std::int64_t> parse_milliseconds(std::string_view text) {
    constexpr std::size_t kSeconds = 19;  // YYYY-MM-DDTHH:MM:SS
    if (text.size() <= kSeconds || (text[10] != 'T' && text[10] != 't')) return std::nullopt;
    const auto date = Date::parse(text.substr(0, 10));
    const int hour = digits(text, 11, 2);
    const int minute = digits(text, 14, 2);
    const int second = digits(text, 17, 2);
    if (!date || text[13] != ':' || text[16] != ':') return std::nullopt;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
        return std::nullopt;
    }
    const auto tail = parse_tail(text.substr(kSeconds));
    if (!tail) return std::nullopt;
    const chrono::sys_days day = calendar_day(date->year(), date->month(), date->day());
    const auto when = day.time_since_epoch() + chrono::hours(hour) +
                      chrono::minutes(minute - tail->offset_minutes) + chrono::seconds(second);
    const auto milliseconds =
        chrono::duration_cast<Milliseconds>(when).count() + tail->milliseconds;
    // The offset may move the time past the year 9999.
    constexpr std::int64_t kYear10000 = 253'402'300'800'000;
    if (milliseconds >= kYear10000) return std::nullopt;
    return milliseconds;
}

}  // namespace

Timestamp Timestamp::now() {
    const auto since_epoch = chrono::system_clock::now().time_since_epoch();
    return of_wall_clock(chrono::duration_cast<Milliseconds>(since_epoch).count());
}

Timestamp Timestamp::of_wall_clock(std::int64_t milliseconds) {
    return Timestamp(milliseconds) + clock_offset();
}

std::optional<Timestamp> Timestamp::parse(std::string_view text) {
    const auto milliseconds = parse_milliseconds(text);
    if (!milliseconds || *milliseconds < 0 || text.substr(0, 4) < "1970") return std::nullopt;
    return Timestamp(*milliseconds);
}

std::optional<Timestamp> Timestamp::parse_since(std::string_view text) {
    const auto milliseconds = parse_milliseconds(text);
    if (!milliseconds) return std::nullopt;
    return Timestamp(std::max<std::int64_t>(*milliseconds, 0));
}

std::string Timestamp::text() const {
    const auto time = static_cast<unsigned>(split_day(milliseconds_).rest);
    TextBuffer text{};
    char* to = put_date(text.data(), Date::of(*this));
    *to++ = 'T';
    to = put_digits(to, time / 3'600'000, 2);
    *to++ = ':';
    to = put_digits(to, time / 60'000 % 60, 2);
    *to++ = ':';
    to = put_digits(to, time / 1000 % 60, 2);
    *to++ = '.';
    to = put_digits(to, time % 1000, 3);
    *to++ = 'Z';
    return {text.data(), to};
}

std::optional<Date> Date::parse(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
    const int year = digits(text, 0, 4);
    const int month = digits(text, 5, 2);
    const int day = digits(text, 8, 2);
    if (year < 1 || month < 1 || day < 1 || !calendar_day(year, month, day).ok()) {
        return std::nullopt;
    }
    return Date(year, month, day);
}

Date Date::of(Timestamp when) {
    const chrono::days since_epoch(split_day(when.milliseconds()).day);
    const chrono::year_month_day day{chrono::sys_days(since_epoch)};
    return {static_cast<int>(day.year()), static_cast<int>(static_cast<unsigned>(day.month())),
            static_cast<int>(static_cast<unsigned>(day.day()))};
}

std::string Date::text() const {
    TextBuffer text{};
    char* end = put_date(text.data(), *this);
    return {text.data(), end};
}

}  // namespace muster
