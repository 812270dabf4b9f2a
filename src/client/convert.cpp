#include "client/convert.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kMaxAttributeBytes = 4096;  // docs/api/limits.md "Limits"
constexpr std::size_t kMaxAttributes = 100;

std::string local_code(FieldCode code) {
    std::string text(field_code_text(code));
    ascii_upper(text);
    return "LOCAL_" + text;
}

Refusal refusal_of(FieldCode code, std::string_view column) {
    return {local_code(code), std::string(column) + " " + std::string(field_code_message(code)),
            std::string(column)};
}

// The allowed values of a field; "" if the code's message names them.
std::string_view allowed(FieldCode code) {
    switch (code) {
        case FieldCode::InvalidEmail:
            return "an address such as ann@example.org";
        case FieldCode::InvalidDate:
            return "YYYY-MM-DD, from 1900-01-01 to yesterday";
        case FieldCode::InvalidCountry:
            return "an ISO 3166-1 alpha-2 code such as GB";
        default:
            return "";
    }
}

// `Birthday is "04/17"; use YYYY-MM-DD, from 1900-01-01 to yesterday`
Refusal refusal_of(FieldCode code, std::string_view column, std::string_view cell) {
    constexpr std::size_t kMostShown = 60;  // bytes
    if (allowed(code).empty()) return refusal_of(code, column);
    std::string message(column);
    if (cell.size() <= kMostShown)
        message += " is \"" + printable(cell) + "\"";
    else
        message += " " + std::string(field_code_message(code));
    return {local_code(code), message.append("; use ").append(allowed(code)), std::string(column)};
}

// `text`, which is not UTF-8, with a replacement character for each byte beyond ASCII: the report
// is UTF-8.
std::string replaced(std::string_view text) {
    std::string clean;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x80) {
            clean += c;
        } else {
            clean += "\xEF\xBF\xBD";
        }
    }
    return clean;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view without_digits(std::string_view text) {
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    return text;
}

// A number of RFC 8259 that every reader can represent: a finite double, or a 64-bit integer.
bool is_json_number(std::string_view text) {
    std::string_view rest = text.starts_with('-') ? text.substr(1) : text;
    if (rest.empty() || !is_digit(rest.front())) return false;
    if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1])) return false;
    rest = without_digits(rest);
    if (rest.empty()) return parse_number<std::int64_t>(text).has_value();
    if (rest.starts_with('.')) {
        const std::string_view fraction = rest.substr(1);
        rest = without_digits(fraction);
        if (rest.size() == fraction.size()) return false;
    }
    if (rest.starts_with('e') || rest.starts_with('E')) {
        rest.remove_prefix(1);
        if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
        if (rest.empty()) return false;
        rest = without_digits(rest);
    }
    const std::optional<double> value = parse_number<double>(text);
    return rest.empty() && value && std::isfinite(*value);
}

std::optional<bool> boolean_of(std::string_view cell) {
    constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "ja", "1"};
    constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "nein", "0"};
    const auto is_cell = [cell](std::string_view word) { return equal_ignoring_case(word, cell); };
    if (std::any_of(kTrue.begin(), kTrue.end(), is_cell)) return true;
    if (std::any_of(kFalse.begin(), kFalse.end(), is_cell)) return false;
    return std::nullopt;
}

std::string json_string(std::string_view text) {
    std::string json;
    append_json_string(json, text);
    return json;
}

std::string choices_json(std::string_view cell) {
    char separator = ',';
    for (const char candidate : {';', '|'}) {
        if (cell.find(candidate) == std::string_view::npos) continue;
        separator = candidate;
        break;
    }
    std::vector<std::string_view> choices;
    for (const std::string_view part : split(cell, separator)) {
        const std::string_view choice = trimmed(part);
        const bool is_known = std::find(choices.begin(), choices.end(), choice) != choices.end();
        if (!choice.empty() && !is_known) choices.push_back(choice);
    }
    std::string json;
    JsonWriter writer(json);
    writer.begin_array();
    for (const std::string_view choice : choices) writer.string(choice);
    writer.end_array();
    return json;
}

// Collects the attributes of one record, with keys in the order of the columns.
class AttributeList {
  public:
    void add(std::string_view key, std::string json) {
        entries_.emplace_back(key, std::move(json));
    }
    bool has(std::string_view key) const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const auto& entry) { return entry.first == key; });
    }
    std::size_t size() const { return entries_.size(); }
    std::string json() const {
        if (entries_.empty()) return {};
        std::string text;
        JsonWriter writer(text);
        writer.begin_object();
        for (const auto& [key, value] : entries_) {
            writer.key(key);
            writer.raw(value);
        }
        writer.end_object();
        return text;
    }

  private:
    std::vector<std::pair<std::string, std::string>> entries_;
};

// Adds the attributes of an "attributes" cell that have no separate column. False if the cell is
// not a JSON object.
bool add_from_json(AttributeList& list, std::string_view cell) {
    Json::Value object;
    if (!parse_json(cell, object) || !object.isObject()) return false;
    for (const std::string& key : object.getMemberNames()) {
        const Json::Value& value = std::as_const(object)[key];
        if (!value.isNull() && !list.has(key)) list.add(key, json_text(value));
    }
    return true;
}

// One pass over a record; keeps the first refusal.
class RecordPass {
  public:
    RecordPass(const rules::AttributeRegistry& registry, Date today)
        : registry_(registry), today_(today) {}

    void take(const ColumnRoute& route, std::string_view cell) {
        if (route.kind == ColumnRoute::Kind::Ignored) return;
        if (!is_utf8(cell)) {
            refuse({"LOCAL_INVALID_UTF8",
                    route.column + " is not UTF-8 text; save the file as CSV in UTF-8",
                    route.column});
            if (route.kind == ColumnRoute::Kind::Core) member(route.field) = replaced(cell);
            return;
        }
        switch (route.kind) {
            case ColumnRoute::Kind::Ignored:
                return;
            case ColumnRoute::Kind::Core:
                take_core(route, cell);
                return;
            case ColumnRoute::Kind::Attribute:
                take_attribute(route, cell);
                return;
            case ColumnRoute::Kind::AttributesJson:
                json_cells_.push_back(cell);
                return;
        }
    }

    Converted finish() {
        for (const std::string_view cell : json_cells_) {
            if (!add_from_json(attributes_, cell))
                refuse(refusal_of(FieldCode::WrongType, "attributes"));
        }
        if (attributes_.size() > kMaxAttributes)
            refuse(refusal_of(FieldCode::OutOfRange, "attributes"));
        if (converted_.fields.email.empty()) refuse(refusal_of(FieldCode::Required, "email"));
        converted_.fields.attributes = attributes_.json();
        return std::move(converted_);
    }

    void refuse(Refusal refusal) {
        if (!converted_.refusal) converted_.refusal = std::move(refusal);
    }

  private:
    std::string& member(rules::CoreField field) {
        return converted_.fields.*(rules::kCoreFields[static_cast<std::size_t>(field)].sent);
    }

    void take_core(const ColumnRoute& route, std::string_view cell) {
        std::string text(cell);
        const std::optional<FieldCode> fault = rules::normalize(route.field, text, today_);
        if (fault) refuse(refusal_of(*fault, route.column, cell));
        member(route.field) = fault ? std::string(cell) : text;
    }

    void take_attribute(const ColumnRoute& route, std::string_view cell) {
        const rules::Attribute* attribute = registry_.find(route.attribute_key);
        const rules::AttributeType type =
            attribute == nullptr ? rules::AttributeType::Text : attribute->type;
        if (cell.size() > kMaxAttributeBytes) refuse(refusal_of(FieldCode::TooLong, route.column));
        attributes_.add(route.attribute_key, attribute_json(type, cell));
    }

    const rules::AttributeRegistry& registry_;
    Date today_;
    Converted converted_;
    AttributeList attributes_;
    std::vector<std::string_view> json_cells_;  // last, because separate columns have precedence
};

}  // namespace

std::string attribute_json(rules::AttributeType type, std::string_view cell) {
    switch (type) {
        case rules::AttributeType::Number:
            return is_json_number(cell) ? std::string(cell) : json_string(cell);
        case rules::AttributeType::Boolean: {
            const std::optional<bool> value = boolean_of(cell);
            if (!value) return json_string(cell);
            return *value ? "true" : "false";
        }
        case rules::AttributeType::MultiChoice:
            return choices_json(cell);
        case rules::AttributeType::Text:
        case rules::AttributeType::Date:
        case rules::AttributeType::SingleChoice:
            return json_string(cell);
    }
    return {};
}

Converted Converter::convert(const std::vector<std::string>& cells) const {
    RecordPass pass(registry_, today_);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view cell = trimmed(without_csv_guard(trimmed(cells[i])));
        if (cell.empty()) continue;
        if (i < routes_.size()) {
            pass.take(routes_[i], cell);
        } else {
            pass.refuse({"LOCAL_TOO_MANY_CELLS",
                         "the record has more cells than the header; put quotes around a cell that "
                         "holds a separator",
                         ""});
        }
    }
    return pass.finish();
}

void append_row_json(std::string& to, std::uint32_t row_number, const rules::MemberFields& fields) {
    JsonWriter writer(to);
    writer.begin_object();
    writer.key("rowNumber");
    writer.number(row_number);
    writer.key("payload");
    writer.begin_object();
    for (const rules::CoreFieldEntry& entry : rules::kCoreFields) {
        const std::string& text = fields.*(entry.sent);
        if (text.empty()) continue;
        writer.key(entry.name);
        writer.string(text);
    }
    if (!fields.attributes.empty()) {
        writer.key("attributes");
        writer.raw(fields.attributes);
    }
    writer.end_object();
    writer.end_object();
}

}  // namespace muster::client
