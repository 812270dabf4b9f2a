// Writes JSON: JsonWriter appends to a string. Documents that are built in parts (the OpenAPI
// description, error details) are jsoncpp values; json_text() prints them in the same format.
#pragma once

#include <json/value.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Appends `text` in quotes, escaped according to RFC 8259.
void append_json_string(std::string& to, std::string_view text);

// The writer adds the commas. The caller must nest correctly.
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
    // Takes the memory for all `count` elements of an array whose first `written` are there, as if
    // the others were as large on average, up to 8 MiB. A text that grows step by step is copied at
    // each step.
    void reserve(std::size_t written, std::size_t count);

  private:
    void open(char bracket);
    void close(char bracket);
    void separate();

    std::string& to_;
    bool first_ = true;
    bool after_key_ = false;
};

// Compact, with unescaped UTF-8 and numbers of at most 15 digits.
[[nodiscard]] std::string json_text(const Json::Value& value);
// Indented by two spaces. A value that fits on a line of 120 characters is not broken. Ends with a
// newline.
[[nodiscard]] std::string json_text_pretty(const Json::Value& value);
// Parses a document that Muster wrote or that a peer sent. False if it is not a JSON object or
// array, or is nested deeper than 64 levels.
[[nodiscard]] bool parse_json(std::string_view text, Json::Value& to);

}  // namespace muster
