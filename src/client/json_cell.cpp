#include "client/json_cell.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "client/value_fault.hpp"
#include "client/value_format.hpp"
#include "rules/attributes.hpp"

#include <json/reader.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace muster::client {
namespace {

std::string normalized_json(const Json::Value& text) {
    std::string json;
    const std::string sent = text.asString();
    std::string whole;
    append_json_string(json, composed(trimmed(sent), whole));
    return json;
}

// A list of texts is normalized. nullopt for an entry that no attribute has: null, a list, an
// object.
std::optional<std::string> list_json(const std::string& written) {
    Json::Value list;
    if (!parse_json(written, list)) return written;
    std::string json;
    JsonWriter writer(json);
    writer.begin_array();
    bool has_texts_only = true;
    for (const Json::Value& entry : list) {
        if (entry.isNull() || entry.isArray() || entry.isObject()) return std::nullopt;
        has_texts_only = has_texts_only && entry.isString();
        if (entry.isString()) writer.raw(normalized_json(entry));
    }
    writer.end_array();
    return has_texts_only ? json : written;
}

// The value as the server stores it: "" for an absent one, nullopt for one that it rejects.
std::optional<std::string> stored_json(const std::string& written) {
    if (written.starts_with('{')) return std::nullopt;
    if (written.starts_with('[')) return list_json(written);
    if (!written.starts_with('"')) return written;
    Json::Value list;
    if (!parse_json("[" + written + "]", list)) return written;
    return trimmed(list[0].asString()).empty() ? "" : normalized_json(list[0]);
}

bool has_attributes_type(const rules::AttributeRegistry& registry, const std::string& key,
                         const std::string& json) {
    std::string object;
    JsonWriter writer(object);
    writer.begin_object();
    writer.key(key);
    writer.raw(json);
    writer.end_object();
    return rules::validate_attributes(registry, object).result !=
           rules::AttributeResult::InvalidValue;
}

// `cell` with 0 in place of each number that JSON or the API does not allow.
std::string without_bad_numbers(std::string_view cell) {
    constexpr std::string_view kNumber = "0123456789+-.eE";
    std::string text;
    bool is_inside = false;  // of a string
    while (!cell.empty()) {
        const bool is_number =
            !is_inside && (cell.front() == '-' || (cell.front() >= '0' && cell.front() <= '9'));
        std::size_t size = is_inside && cell.front() == '\\' ? 2 : 1;
        if (is_number) size = cell.find_first_not_of(kNumber);
        const std::string_view part = cell.substr(0, size);
        is_inside = is_inside != (part == "\"");
        text += is_number && !is_json_number(part) ? "0" : part;
        cell.remove_prefix(part.size());
    }
    return text;
}

bool is_json_but_for_repeated_keys(std::string_view cell) {
    Json::CharReaderBuilder builder;
    Json::CharReaderBuilder::strictMode(&builder.settings_);
    builder["stackLimit"] = 64;
    builder["rejectDupKeys"] = false;
    const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
    Json::Value value;
    try {
        return reader->parse(cell.data(), cell.data() + cell.size(), &value, nullptr);
    } catch (const std::exception&) {  // nested deeper than the limit
        return false;
    }
}

// Of a cell that the API does not accept.
RowFault cell_fault(std::string_view column, std::string_view cell) {
    RowFault fault = field_fault(FieldCode::WrongType, column, cell);
    Json::Value value;
    if (rules::written_values(without_bad_numbers(cell))) {
        fault.rule = "a number in it is malformed or out of range";
    } else if (!parse_json(cell, value) && is_json_but_for_repeated_keys(cell)) {
        fault.rule = "it has a key twice";
    }
    return fault;
}

JsonCellValue value_of(std::string_view column, rules::WrittenValue written,
                       const rules::AttributeRegistry& registry) {
    JsonCellValue value{std::move(written.key), "", std::nullopt};
    const std::string place = std::string(column) + "." + value.key;
    std::optional<std::string> json = stored_json(written.value);
    if (!json || !has_attributes_type(registry, value.key, *json)) {
        value.fault = json_value_fault(registry.find(value.key), place, written.value);
    } else if (json->size() > kMostAttributeBytes) {
        value.fault = attribute_size_fault(place, json->size());
    } else {
        value.json = *std::move(json);
    }
    return value;
}

}  // namespace

JsonCell read_json_cell(std::string_view column, std::string_view cell,
                        const rules::AttributeRegistry& registry) {
    JsonCell read;
    auto values = rules::written_values(cell);
    if (!values) {
        read.fault = cell_fault(column, cell);
        return read;
    }
    for (rules::WrittenValue& written : *values) {
        JsonCellValue value = value_of(column, std::move(written), registry);
        if (value.fault || !value.json.empty()) read.values.push_back(std::move(value));
    }
    return read;
}

}  // namespace muster::client
