// JSON going out: a writer that appends to a string. Documents that are built piecemeal (the
// OpenAPI description, error details) are jsoncpp values; json_text() prints one the same way.
#pragma once

#include <json/value.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Appends `text` with quotes, escaped as RFC 8259 asks.
void append_json_string(std::string& to, std::string_view text);

// Commas are the writer's business; nesting right is the caller's.
class JsonWriter {
  public:
    explicit JsonWriter(std::string& to) : to_(to) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    void key(std::string_view name);
    void string(std::string_view text);
    void number(std::int64_t value);
    void boolean(bool value);
    void null();
    // `json` is a complete JSON value already.
    void raw(std::string_view json);

  private:
    void open(char bracket);
    void close(char bracket);
    void separate();

    std::string& to_;
    bool first_ = true;
    bool after_key_ = false;
};

// Compact, UTF-8 as it is, numbers to 15 digits.
[[nodiscard]] std::string json_text(const Json::Value& value);
// Indented by two spaces; what fits on a line of 120 characters stays on it. Ends with a newline.
[[nodiscard]] std::string json_text_pretty(const Json::Value& value);
// A document that we wrote ourselves or that a peer answered; nullopt if it is no JSON object or
// array.
[[nodiscard]] bool parse_json(std::string_view text, Json::Value& to);

}  // namespace muster
