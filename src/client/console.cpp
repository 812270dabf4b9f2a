#include "client/console.hpp"

#include <algorithm>
#include <cmath>

namespace muster::client {
namespace {

constexpr std::size_t kBarWidth = 16;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(100);

// 1:05
std::string minutes(double seconds) {
    const long whole = std::lround(seconds);
    const std::string rest = std::to_string(whole % 60);
    return std::to_string(whole / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

// "  7" of 7.
std::string right_aligned(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
    return grouped(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

void Console::end_bar() {
    if (!is_bar_drawn_) return;
    notes_ << "\r\x1b[K";
    is_bar_drawn_ = false;
}

void Console::put(std::ostream& to, std::string_view line) {
    const std::lock_guard lock(mutex_);
    end_bar();
    notes_.flush();
    to << line << '\n';
    to.flush();
}

void Console::say(std::string_view line) {
    if (!settings_.quiet) put(text_, line);
}

void Console::note(std::string_view line) {
    if (!settings_.quiet) put(notes_, line);
}

void Console::error(std::string_view line) {
    put(notes_, "muster-import: " + std::string(line));
}

void Console::draw(std::string_view bar) {
    const std::lock_guard lock(mutex_);
    notes_ << '\r' << bar << "\x1b[K" << std::flush;
    is_bar_drawn_ = true;
}

std::string progress_line(std::string_view label, std::uint64_t done, std::uint64_t total,
                          double seconds, bool with_bar) {
    done = std::min(done, total);
    const double share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    constexpr std::size_t kLabelWidth = 10;
    std::string line(label);
    line.append(kLabelWidth - std::min(kLabelWidth, label.size()), ' ');
    line += right_aligned(std::to_string(static_cast<unsigned>(share * 100)), 4) + " %";
    if (with_bar) {
        const auto filled = static_cast<std::size_t>(share * kBarWidth);
        line += " [" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "]";
    }
    line += " " + grouped(done) + "/" + grouped(total);
    if (done == 0 || seconds < 0.1) return line;
    const double rate = static_cast<double>(done) / seconds;
    if (rate < 1) return line;
    line += "  " + grouped(static_cast<std::uint64_t>(rate)) + " rows/s";
    if (done < total) line += "  ETA " + minutes(static_cast<double>(total - done) / rate);
    return line;
}

Progress::Progress(Console& console, std::string label, std::uint64_t total)
    : console_(console), label_(std::move(label)), total_(total) {}

std::string Progress::line() const {
    const std::chrono::duration<double> passed = Clock::now() - began_;
    return progress_line(label_, done_, total_, passed.count(), console_.settings_.bars);
}

void Progress::update(std::uint64_t done) {
    done_ = std::max(done_, std::min(done, total_));
    if (console_.settings_.quiet) return;
    if (console_.settings_.bars) {
        if (Clock::now() - drawn_ < kBetweenDrawings) return;
        drawn_ = Clock::now();
        console_.draw(line());
        return;
    }
    const std::uint64_t tenths = total_ == 0 ? 0 : done_ * 10 / total_;
    if (tenths <= tenths_said_ || done_ == total_) return;  // the last line is finish()'s
    tenths_said_ = tenths;
    console_.note(line());
}

void Progress::finish(std::uint64_t done) {
    done_ = std::max(done_, std::min(done, total_));
    console_.note(line());
}

}  // namespace muster::client
