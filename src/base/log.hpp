// The log: one line per event, as key=value pairs, to standard error (journald or a file receives
// it). Never log a secret or an email address.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

// Off is for set_log_level() only: no event is written.
enum class LogLevel { Debug, Info, Warning, Error, Off };

struct LogField {
    LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
    LogField(std::string_view name, const char* text) : key(name), value(text) {}
    LogField(std::string_view name, std::string text) : key(name), value(std::move(text)) {}
    template <class Number>
    requires std::is_arithmetic_v<Number> LogField(std::string_view name, Number number)
        : key(name), value(std::to_string(number)) {}
    std::string_view key;
    std::string value;
};

void set_log_level(LogLevel level);
// The id of the current request. It is added to each line until it is set to "".
void set_log_request_id(std::string_view id);
// Writes for example: level=info event=import.claimed request_id=… job=…
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
void log_event(LogLevel level, std::string_view event, std::span<const LogField> fields);

// While it lives, the lines of this thread are collected and written together, unless `is_wanted`
// is false. They are written by write(), when it ends, with each line above Info, and when they
// have about 4 KiB. Each write has whole lines only. At most one lives in a thread.
class CollectedLines {
  public:
    explicit CollectedLines(bool is_wanted);
    ~CollectedLines();
    CollectedLines(const CollectedLines&) = delete;
    CollectedLines& operator=(const CollectedLines&) = delete;

    // Call it before work that may take long.
    void write();
};

}  // namespace muster
