// Points in time (milliseconds UTC) and calendar days (proleptic Gregorian). The database stores
// milliseconds; only the API uses ISO 8601 text.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

using Milliseconds = std::chrono::milliseconds;

// A time of this process, for its pauses: it continues when an administrator or NTP sets the wall
// clock. Store a Timestamp.
using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime steady_now() {
    return std::chrono::steady_clock::now();
}

class Timestamp {
  public:
    constexpr Timestamp() = default;
    constexpr explicit Timestamp(std::int64_t milliseconds) : milliseconds_(milliseconds) {}
    // The wall clock. MUSTER_CLOCK_OFFSET (seconds) shifts it, for tests of retention and expiry.
    static Timestamp now();
    // A time in milliseconds since 1970 that another program read from the same clock.
    static Timestamp of_wall_clock(std::int64_t milliseconds);
    // ISO 8601 with seconds, an optional fraction, and `Z` or an offset; years 1970 to 9999.
    // Otherwise nullopt.
    static std::optional<Timestamp> parse(std::string_view text);
    // The same for years 0001 to 9999; a time before 1970 gives 1970. For a filter "since": the
    // zero time of Go and .NET means all records.
    static std::optional<Timestamp> parse_since(std::string_view text);

    constexpr std::int64_t milliseconds() const { return milliseconds_; }
    // 2026-11-20T10:00:00.000Z
    std::string text() const;

    constexpr Timestamp operator+(Milliseconds span) const {
        return Timestamp(milliseconds_ + span.count());
    }
    constexpr Timestamp operator-(Milliseconds span) const {
        return Timestamp(milliseconds_ - span.count());
    }
    constexpr Milliseconds operator-(Timestamp other) const {
        return Milliseconds(milliseconds_ - other.milliseconds_);
    }
    constexpr auto operator<=>(const Timestamp&) const = default;

  private:
    std::int64_t milliseconds_ = 0;
};

class Date {
  public:
    constexpr Date() = default;
    // YYYY-MM-DD of an existing day in the years 0001 to 9999, or nullopt.
    static std::optional<Date> parse(std::string_view text);
    static Date of(Timestamp when);

    int year() const { return year_; }
    int month() const { return month_; }
    int day() const { return day_; }
    std::string text() const;
    constexpr auto operator<=>(const Date&) const = default;

  private:
    constexpr Date(int year, int month, int day) : year_(year), month_(month), day_(day) {}
    int year_ = 1970;
    int month_ = 1;
    int day_ = 1;
};

}  // namespace muster
