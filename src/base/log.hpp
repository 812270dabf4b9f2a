// The log: one line an event, key=value, to standard error (journald or a file takes it from
// there). Never a secret, never an address of mail.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

enum class LogLevel { Debug, Info, Warning, Error };

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
// The request that this process is working on; on every line until it is set to "" again.
void set_log_request_id(std::string_view id);
// level=info event=import.claimed request_id=… job=…
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
void log_event(LogLevel level, std::string_view event, std::span<const LogField> fields);

}  // namespace muster
