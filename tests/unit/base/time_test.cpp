// base/time.hpp: ISO 8601 texts to milliseconds and back, and calendar dates.
#include "base/time.hpp"

#include "print.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <random>
#include <string>
#include <vector>

using muster::Date;
using muster::Milliseconds;
using muster::Timestamp;

namespace {

std::string reparsed(std::string_view text) {
    const auto when = Timestamp::parse(text);
    return when ? when->text() : "none";
}

// The text as the C library prints it.
std::string printed(std::int64_t milliseconds) {
    constexpr std::int64_t kSecond = 1000;
    const std::int64_t rest = (milliseconds % kSecond + kSecond) % kSecond;
    const std::time_t seconds = (milliseconds - rest) / kSecond;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                  parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                  parts.tm_min, parts.tm_sec, static_cast<int>(rest));
    return text.data();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(time_and_date)

BOOST_AUTO_TEST_CASE(a_time_is_read_in_any_zone) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.000Z"},
        {"2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000Z"},
        {"2026-11-20T10:00:00+00:00", "2026-11-20T10:00:00.000Z"},
        {"2026-11-20T10:00:00-00:00", "2026-11-20T10:00:00.000Z"},
        {"2026-11-20T10:00:00+01:00", "2026-11-20T09:00:00.000Z"},
        {"2026-11-20T10:00:00-05:00", "2026-11-20T15:00:00.000Z"},
        {"2026-11-20T10:00:00+05:30", "2026-11-20T04:30:00.000Z"},
        {"2026-11-20T10:00:00-03:30", "2026-11-20T13:30:00.000Z"},
        {"2026-11-20T10:00:00+14:00", "2026-11-19T20:00:00.000Z"},
        {"2026-11-20T10:00:00.5+01:00", "2026-11-20T09:00:00.500Z"},
        {"2026-11-20T23:30:00-01:00", "2026-11-21T00:30:00.000Z"},
        {"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"},
        {"2024-02-28T23:30:00-01:00", "2024-02-29T00:30:00.000Z"},
        {"2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"},
        {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"},
        {"2038-01-19T03:14:08Z", "2038-01-19T03:14:08.000Z"},
        {"2106-02-07T06:28:16Z", "2106-02-07T06:28:16.000Z"},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(reparsed(text) == expected, text);
}

BOOST_AUTO_TEST_CASE(a_fraction_is_read_to_the_millisecond) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"2026-11-20T10:00:00.1Z", "2026-11-20T10:00:00.100Z"},
        {"2026-11-20T10:00:00.12Z", "2026-11-20T10:00:00.120Z"},
        {"2026-11-20T10:00:00.123Z", "2026-11-20T10:00:00.123Z"},
        {"2026-11-20T10:00:00.001Z", "2026-11-20T10:00:00.001Z"},
        {"2026-11-20T10:00:00.1239Z", "2026-11-20T10:00:00.123Z"},
        {"2026-11-20T10:00:00.999999Z", "2026-11-20T10:00:00.999Z"},
        {"2026-11-20T10:00:00.123456789Z", "2026-11-20T10:00:00.123Z"},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(reparsed(text) == expected, text);
}

BOOST_AUTO_TEST_CASE(any_other_text_is_not_a_time) {
    for (const std::string_view text : {
             "",
             "now",
             "2026-11-20",
             "2026-11-20T10:00",
             "2026-11-20T10:00Z",
             "2026-11-20T10:00:00",
             "2026-11-20 10:00:00Z",
             "2026-11-20T10:00:00 Z",
             "2026-11-20T10:00:00Zx",
             "2026-11-20T10:00:00Z ",
             " 2026-11-20T10:00:00Z",
             "2026-11-20T10:00:00.Z",
             "2026-11-20T10:00:00.1",
             "2026-11-20T10:00:00.x1Z",
             "2026-11-20T10:00:00+01:0",
             "2026-11-20T10:00:00+1:00",
             "2026-11-20T10:00:00+24:00",
             "2026-11-20T10:00:00+01:60",
             "2026-11-20T10:00:00+01:00Z",
             "2026-11-20T10:00:00Z+01:00",
             "2026-11-20T10:00:00 +01:00",
             "2026-11-20T24:00:00Z",
             "2026-11-20T10:60:00Z",
             "2026-11-20T10:00:61Z",
             "2026-11-20T-1:00:00Z",
             "2026-11-20T10:-1:00Z",
             "2026-11-20T+1:00:00Z",
             "2026-02-29T10:00:00Z",
             "2026-13-01T10:00:00Z",
             "2026-00-01T10:00:00Z",
             "2026-11-00T10:00:00Z",
             "2026-11-31T10:00:00Z",
             "1969-12-31T23:59:59Z",
             "1970-01-01T00:00:00+00:01",
             "0001-01-01T00:00:00Z",
             "10000-01-01T00:00:00Z",
             "20261120T100000Z",
             "2026-W47-5T10:00:00Z",
             "1763632800",
         }) {
        BOOST_TEST(!Timestamp::parse(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(a_time_before_1970_begins_a_filter_in_1970) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"},
        {"0001-01-01T00:00:00.0000000+01:00", "1970-01-01T00:00:00.000Z"},
        {"1969-12-31T23:59:59Z", "1970-01-01T00:00:00.000Z"},
        {"2026-11-20T10:00:00+01:00", "2026-11-20T09:00:00.000Z"},
    };
    for (const auto& [text, expected] : table) {
        const auto since = Timestamp::parse_since(text);
        BOOST_TEST((since ? since->text() : "none") == expected, text);
    }
    for (const std::string_view text : {"", "yesterday", "0000-01-01T00:00:00Z",
                                        "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z"}) {
        BOOST_TEST(!Timestamp::parse_since(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(a_time_is_written_with_milliseconds_in_utc) {
    const std::vector<std::pair<std::int64_t, std::string_view>> table = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {999, "1970-01-01T00:00:00.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1763632800123, "2025-11-20T10:00:00.123Z"},
        {2147483648000, "2038-01-19T03:14:08.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };
    for (const auto& [milliseconds, text] : table) {
        BOOST_TEST(Timestamp(milliseconds).text() == text);
        BOOST_TEST(Timestamp::parse(text) == Timestamp(milliseconds), text);
    }
}

BOOST_AUTO_TEST_CASE(a_time_is_written_as_the_c_library_prints_it) {
    std::vector<std::int64_t> table = {0,
                                       7,
                                       999,
                                       1000,
                                       59'999,
                                       3'599'999,
                                       86'399'999,
                                       86'400'000,
                                       951'782'399'999,
                                       951'782'400'007,
                                       951'868'800'000,
                                       2'147'483'647'999,
                                       2'147'483'648'000,
                                       4'294'967'296'000,
                                       253'402'300'799'999,
                                       253'402'300'800'000,
                                       -1,
                                       -86'400'000,
                                       -86'400'001,
                                       -62'135'596'800'000,
                                       -62'135'596'800'001,
                                       -62'167'219'200'000,
                                       -62'167'219'200'001,
                                       -93'724'128'000'001,
                                       -377'705'116'800'001,
                                       600'000'000'000'000};
    std::mt19937_64 chance(7);  // NOLINT(cert-msc51-cpp): the same each time
    std::uniform_int_distribution<std::int64_t> any(-120'000'000'000'000, 253'500'000'000'000);
    for (int i = 0; i < 20'000; ++i) table.push_back(any(chance));
    for (const std::int64_t milliseconds : table) {
        BOOST_TEST_REQUIRE(Timestamp(milliseconds).text() == printed(milliseconds));
        BOOST_TEST_REQUIRE(Date::of(Timestamp(milliseconds)).text() ==
                           printed(milliseconds).substr(0, printed(milliseconds).find('T')));
    }
}

BOOST_AUTO_TEST_CASE(a_time_beyond_the_calendar_is_written_without_overflow) {
    for (const std::int64_t milliseconds :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        const std::string text = Timestamp(milliseconds).text();
        BOOST_TEST(text.size() < 40U);
        BOOST_TEST(text.ends_with(milliseconds < 0 ? "T16:47:04.192Z" : "T07:12:55.807Z"), text);
    }
}

BOOST_AUTO_TEST_CASE(texts_of_times_sort_like_the_times) {
    std::string last;
    for (std::int64_t when = 0; when < 253402300800000; when += 86399999 * 977LL) {
        const std::string text = Timestamp(when).text();
        BOOST_TEST(last < text);
        BOOST_TEST(Timestamp::parse(text) == Timestamp(when));
        last = text;
    }
}

BOOST_AUTO_TEST_CASE(times_support_arithmetic) {
    const Timestamp when(1000);
    BOOST_TEST((when + Milliseconds(500)).milliseconds() == 1500);
    BOOST_TEST((when - Milliseconds(500)).milliseconds() == 500);
    BOOST_TEST((when + std::chrono::hours(24 * 30)).milliseconds() == 2592001000);
    BOOST_TEST((Timestamp(1500) - when).count() == 500);
    BOOST_TEST(when < Timestamp(1001));
    BOOST_TEST(when == Timestamp(1000));
    BOOST_TEST(Timestamp().milliseconds() == 0);
}

BOOST_AUTO_TEST_CASE(now_is_monotonic) {
    const Timestamp first = Timestamp::now();
    BOOST_TEST(first > Timestamp::parse("2024-01-01T00:00:00Z").value());
    BOOST_TEST(Timestamp::now() >= first);
}

BOOST_AUTO_TEST_CASE(a_date_must_exist) {
    for (const std::string_view text :
         {"0001-01-01", "1600-02-29", "1899-12-31", "1900-02-28", "1970-01-01", "2000-02-29",
          "2024-02-29", "2024-12-31", "2026-11-20", "9999-12-31"}) {
        const auto date = Date::parse(text);
        BOOST_TEST_REQUIRE(date.has_value(), text);
        BOOST_TEST(date->text() == text);
    }
    for (const std::string_view text :
         {"",           "0000-01-01", "1700-02-29", "1900-02-29", "2023-02-29",  "2100-02-29",
          "2024-02-30", "2024-04-31", "2024-06-31", "2024-09-31", "2024-11-31",  "2024-01-32",
          "2024-00-01", "2024-13-01", "2024-01-00", "2024-1-1",   "2024-1-01",   "2024-01-1",
          "24-01-01",   "20240101",   "2024/01/01", "01-01-2024", "2024-01-01 ", " 2024-01-01",
          "2024-01-0a", "2024-01--1", "-024-01-01", "+024-01-01", "2024-01-01T", "10000-01-01"}) {
        BOOST_TEST(!Date::parse(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(a_date_has_its_parts) {
    const Date date = Date::parse("2024-02-29").value();
    BOOST_TEST(date.year() == 2024);
    BOOST_TEST(date.month() == 2);
    BOOST_TEST(date.day() == 29);
    BOOST_TEST(Date().text() == "1970-01-01");
}

BOOST_AUTO_TEST_CASE(dates_sort_like_days) {
    const std::vector<std::string_view> days = {"0001-01-01", "1999-12-31", "2000-01-01",
                                                "2000-01-02", "2000-02-01", "2001-01-01"};
    for (std::size_t i = 1; i < days.size(); ++i) {
        BOOST_TEST(Date::parse(days[i - 1]).value() < Date::parse(days[i]).value());
    }
}

BOOST_AUTO_TEST_CASE(the_date_of_a_time_is_its_utc_day) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {"1970-01-01T00:00:00.000Z", "1970-01-01"}, {"2026-11-20T00:00:00.000Z", "2026-11-20"},
        {"2026-11-20T23:59:59.999Z", "2026-11-20"}, {"2026-11-20T23:59:59-01:00", "2026-11-21"},
        {"2024-02-29T12:00:00Z", "2024-02-29"},     {"2024-03-01T00:00:00Z", "2024-03-01"},
    };
    for (const auto& [time, date] : table) {
        BOOST_TEST(Date::of(Timestamp::parse(time).value()).text() == date, time);
    }
    BOOST_TEST(Date::of(Timestamp(-1)).text() == "1969-12-31");
}

BOOST_AUTO_TEST_SUITE_END()
