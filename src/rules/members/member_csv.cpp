#include "rules/members/member_csv.hpp"

#include "json/json_body.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster::rules {
namespace {

// muster-import splits a cell of choices at semicolons, or at commas if it has none.
std::string choices_cell(const json::JsonArray& choices) {
    std::string cell;
    for (const json::JsonIn& choice : choices) {
        if (!cell.empty()) cell += ';';
        cell += choice.string().value_or("");
    }
    if (choices.size() == 1 && cell.find(',') != std::string::npos) cell += ';';
    return cell;
}

// The text of a JSON string without escapes.
std::optional<std::string> plain_text(std::string_view value) {
    const bool is_plain =
        value.size() >= 2 && value.front() == '"' && value.find('\\') == std::string_view::npos;
    return is_plain ? std::optional<std::string>(value.substr(1, value.size() - 2)) : std::nullopt;
}

// A value of a document as text. Most values need no parser: texts without escapes, numbers and
// booleans.
std::string value_cell(json::JsonParser& parser, const std::string& value) {
    if (auto text = plain_text(value)) return std::move(*text);
    if (!value.starts_with('"') && !value.starts_with('[')) return value;
    const auto in = parser.parse(value);
    if (!in) return "";
    if (const auto text = in->string()) return std::string(*text);
    if (const auto choices = in->array()) return choices_cell(*choices);
    return value;
}

// None if the stored text is not a document, as in the list of members.
std::vector<AttributeEntry> entries_of(const Member& member) {
    try {
        return attribute_entries(member.attributes);
    } catch (const std::invalid_argument&) {
        return {};
    }
}

}  // namespace

MemberCsv::MemberCsv(const AttributeRegistry& registry, CsvCells cells) : cells_(cells) {
    for (const Attribute& attribute : registry.all()) {
        if (attribute.enabled) keys_.push_back(attribute.key);
    }
    std::sort(keys_.begin(), keys_.end());
}

void MemberCsv::append_header(std::string& to) const {
    for (const auto& field : kCoreFields) {
        if (field.field != CoreField::Email) to += ',';
        to += field.name;
    }
    for (const std::string& key : keys_) {
        // A column of another meaning has this name in an import.
        const bool is_taken = core_field(key).has_value() || key == "attributes";
        to.append(is_taken ? ",attribute:" : ",").append(key);
    }
    to += "\r\n";
}

void MemberCsv::append(std::string& to, const Member& member) const {
    thread_local json::JsonParser parser;
    append_csv_cell(to, member.email, cells_);
    for (const auto& field : kTextFields) {
        to += ',';
        append_csv_cell(to, (member.*field.stored).value_or(""), cells_);
    }
    const auto entries = entries_of(member);
    auto entry = entries.begin();
    for (const std::string& key : keys_) {
        to += ',';
        while (entry != entries.end() && entry->key < key) ++entry;
        if (entry == entries.end() || entry->key != key) continue;
        append_csv_cell(to, value_cell(parser, entry->value), cells_);
    }
    to += "\r\n";
}

}  // namespace muster::rules
