#include "base/log.hpp"

#include "base/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace muster {
namespace {

LogLevel g_level = LogLevel::Info;
thread_local std::string t_request_id;
thread_local bool t_collects = false;
thread_local std::string t_collected;

// A pipe does not mix writes up to this size with those of other processes (PIPE_BUF).
constexpr std::size_t kLargestWrite = 4096;

std::string_view level_text(LogLevel level) {
    constexpr std::array<std::string_view, 5> kTexts = {"debug", "info", "warning", "error", "off"};
    return kTexts[static_cast<std::size_t>(level)];
}

bool is_plain(std::string_view value) {
    return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
    });
}

// Escapes quotes and control characters, so that a value cannot start a new line.
void append_value(std::string& line, std::string_view value) {
    if (is_plain(value)) {
        line += value;
        return;
    }
    line += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') line += '\\';
        if (c == '\n') {
            line += "\\n";
        } else {
            line += is_control(c) ? '?' : c;
        }
    }
    line += '"';
}

// Whole lines in each write keep the lines of several workers apart. A full disk loses the lines
// but does not stop the work.
void write_lines(std::string_view lines) {
    if (lines.empty()) return;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, lines.data(), lines.size());
}

void write_collected() {
    write_lines(t_collected);
    t_collected.clear();
}

void collect(LogLevel level, std::string_view line) {
    if (t_collected.size() + line.size() > kLargestWrite) write_collected();
    t_collected += line;
    if (level > LogLevel::Info) write_collected();
}

}  // namespace

CollectedLines::CollectedLines(bool is_wanted) {
    t_collects = is_wanted;
}
CollectedLines::~CollectedLines() {
    t_collects = false;
    write_collected();
}

void CollectedLines::write() {
    write_collected();
}

void set_log_level(LogLevel level) {
    g_level = level;
}
void set_log_request_id(std::string_view id) {
    t_request_id = id;
}

void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
    log_event(level, event, std::span(fields.begin(), fields.size()));
}

void log_event(LogLevel level, std::string_view event, std::span<const LogField> fields) {
    if (level < g_level) return;
    std::string line = "level=";
    line += level_text(level);
    line += " event=";
    line += event;
    if (!t_request_id.empty()) {
        line += " request_id=";
        append_value(line, t_request_id);
    }
    for (const LogField& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        append_value(line, field.value);
    }
    line += '\n';
    t_collects ? collect(level, line) : write_lines(line);
}

}  // namespace muster
