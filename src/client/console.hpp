// The output of muster-import: text, notes, errors and a progress bar that redraws itself in place.
// Safe to use from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

namespace muster::client {

// 12,345
[[nodiscard]] std::string grouped(std::uint64_t number);
// "1 row", "12,345 rows"
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

class Console {
  public:
    struct Settings {
        bool quiet = false;
        bool bars = false;  // standard error is a terminal
        // Asks the question (without "[y/N]") and returns the answer; empty without a terminal.
        std::function<bool(const std::string& question)> ask;
    };
    // `text` takes results, `notes` everything else. Both outlive the console.
    Console(std::ostream& text, std::ostream& notes, Settings settings)
        : text_(text), notes_(notes), settings_(std::move(settings)) {}

    // Prints a line, or several if `line` contains line ends. Prints nothing if quiet:
    void say(std::string_view line);
    void note(std::string_view line);
    // Always, with "muster-import: " in front.
    void error(std::string_view line);

    bool can_ask() const { return static_cast<bool>(settings_.ask); }
    bool ask(const std::string& question) { return settings_.ask(question); }

  private:
    friend class Progress;
    void draw(std::string_view bar);
    void end_bar();
    void put(std::ostream& to, std::string_view line);

    std::ostream& text_;
    std::ostream& notes_;
    Settings settings_;
    std::mutex mutex_;
    bool is_bar_drawn_ = false;
};

// The progress of a task as one line of at most 79 columns:
// "Staging     45 % [#######---------] 112,500/250,000  23,400 rows/s  ETA 0:06". It has no rate
// below one row a second, and no ETA at the end.
[[nodiscard]] std::string progress_line(std::string_view label, std::uint64_t done,
                                        std::uint64_t total, double seconds, bool with_bar);

// Progress of one task: a bar on a terminal, else a line for about every tenth; nothing when quiet.
// Not for two threads at once.
class Progress {
  public:
    Progress(Console& console, std::string label, std::uint64_t total);
    // `done` of `total` rows; a smaller number than before is ignored.
    void update(std::uint64_t done);
    // Draws the last state and ends the line.
    void finish(std::uint64_t done);

  private:
    using Clock = std::chrono::steady_clock;
    std::string line() const;

    Console& console_;
    std::string label_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
    std::uint64_t tenths_said_ = 0;
    Clock::time_point began_ = Clock::now();
    Clock::time_point drawn_;
};

}  // namespace muster::client
