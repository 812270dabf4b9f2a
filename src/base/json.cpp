#include "base/json.hpp"

#include <json/reader.h>
#include <json/writer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>

namespace muster {
namespace {

constexpr bool needs_escape(unsigned char c) {
    return c < 0x20 || c == '"' || c == '\\';
}

// The length of the words of eight bytes at the beginning that need no escape. Most texts of a
// reply need none, and a page has thousands of them.
std::size_t plain_words(std::string_view text) {
    constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
    const auto has_zero = [](std::uint64_t word) { return (word - kEach) & ~word & kEach << 7U; };
    std::size_t length = 0;
    for (; length + sizeof(std::uint64_t) <= text.size(); length += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + length, sizeof word);
        const std::uint64_t controls = (word - kEach * 0x20) & ~word & kEach << 7U;
        if (controls | has_zero(word ^ kEach * '"') | has_zero(word ^ kEach * '\\')) break;
    }
    return length;
}

void append_escape(std::string& to, unsigned char c) {
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    switch (c) {
        case '"':
            to += "\\\"";
            return;
        case '\\':
            to += "\\\\";
            return;
        case '\n':
            to += "\\n";
            return;
        case '\r':
            to += "\\r";
            return;
        case '\t':
            to += "\\t";
            return;
        default:
            to += "\\u00";
            to += kHexDigits[c >> 4U];
            to += kHexDigits[c & 0xfU];
    }
}

std::string write(const Json::Value& value) {
    Json::StreamWriterBuilder builder;
    builder["indentation"] = "";
    builder["emitUTF8"] = true;
    builder["precision"] = 15;
    return Json::writeString(builder, value);
}

constexpr std::size_t kLongestLine = 120;

// Calls `visit(label, entry)` for each entry. The label is `"key": ` in an object and empty in an
// array.
template <class Visit>
void visit_entries(const Json::Value& value, const Visit& visit) {
    for (auto entry = value.begin(); entry != value.end(); ++entry) {
        std::string label;
        if (value.isObject()) {
            append_json_string(label, entry.name());
            label += ": ";
        }
        visit(label, *entry);
    }
}

bool has_entries(const Json::Value& value) {
    return (value.isObject() || value.isArray()) && !value.empty();
}

std::string on_one_line(const Json::Value& value) {
    if (!has_entries(value)) return write(value);
    std::string line(1, value.isObject() ? '{' : '[');
    visit_entries(value, [&](const std::string& label, const Json::Value& entry) {
        if (line.size() > 1) line += ", ";
        line += label + on_one_line(entry);
    });
    return line + (value.isObject() ? '}' : ']');
}

// `before`: the number of characters already on the line.
void lay_out(const Json::Value& value, std::size_t indent, std::size_t before, std::string& to) {
    const std::string line = on_one_line(value);
    if (!has_entries(value) || before + line.size() < kLongestLine) {
        to += line;
        return;
    }
    const char* separator = "\n";
    to += value.isObject() ? '{' : '[';
    visit_entries(value, [&](const std::string& label, const Json::Value& entry) {
        to += separator + std::string(indent + 2, ' ') + label;
        lay_out(entry, indent + 2, indent + 2 + label.size(), to);
        separator = ",\n";
    });
    to += "\n" + std::string(indent, ' ') + (value.isObject() ? '}' : ']');
}

}  // namespace

void append_json_string(std::string& to, std::string_view text) {
    to += '"';
    std::size_t plain = 0;
    for (std::size_t i = plain_words(text); i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (!needs_escape(c)) continue;
        to.append(text, plain, i - plain);
        append_escape(to, c);
        plain = i + 1;
    }
    to.append(text, plain);
    to += '"';
}

void JsonWriter::separate() {
    if (!first_ && !after_key_) to_ += ',';
    first_ = false;
    after_key_ = false;
}

void JsonWriter::reserve(std::size_t written, std::size_t count) {
    constexpr std::size_t kMost = std::size_t{8} << 20U;  // a usual list has at most 7 MiB
    if (written == 0 || written >= count) return;
    const std::size_t expected = std::min(to_.size() / written * (count + 1), kMost);
    if (expected > to_.capacity()) to_.reserve(expected);
}

void JsonWriter::open(char bracket) {
    separate();
    to_ += bracket;
    first_ = true;
}

void JsonWriter::close(char bracket) {
    to_ += bracket;
    first_ = false;
}

void JsonWriter::key(std::string_view name) {
    separate();
    append_json_string(to_, name);
    to_ += ':';
    after_key_ = true;
}

void JsonWriter::string(std::string_view text) {
    separate();
    append_json_string(to_, text);
}

void JsonWriter::number(std::int64_t value) {
    separate();
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    to_.append(digits.data(), end);
}

void JsonWriter::boolean(bool value) {
    raw(value ? "true" : "false");
}
void JsonWriter::null() {
    raw("null");
}

void JsonWriter::raw(std::string_view json) {
    separate();
    to_ += json;
}

std::string json_text(const Json::Value& value) {
    return write(value);
}
std::string json_text_pretty(const Json::Value& value) {
    std::string text;
    lay_out(value, 0, 0, text);
    return text + "\n";
}

bool parse_json(std::string_view text, Json::Value& to) {
    Json::CharReaderBuilder builder;
    Json::CharReaderBuilder::strictMode(&builder.settings_);
    builder["stackLimit"] = 64;
    const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
    try {
        return reader->parse(text.data(), text.data() + text.size(), &to, nullptr);
    } catch (const std::exception&) {  // nested deeper than the limit
        return false;
    }
}

}  // namespace muster
