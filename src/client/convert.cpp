#include "client/convert.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "client/cell_text.hpp"
#include "client/country_names.hpp"
#include "client/json_cell.hpp"
#include "client/value_fault.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/fields.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kMaxAttributes = 100;  // docs/api/limits.md "Limits"

std::string json_string(std::string_view text) {
    std::string json;
    std::string whole;
    append_json_string(json, composed(text, whole));  // as the API does before it counts bytes
    return json;
}

// The JSON of a date attribute; nullopt for a fault.
std::optional<std::string> date_json(std::string_view cell, const ValueFormat& format) {
    if (format.as_is) {
        if (!Date::parse(cell)) return std::nullopt;
        return json_string(cell);
    }
    const std::optional<std::string> date = iso_date(read_date(cell), format.date.order);
    if (!date) return std::nullopt;
    return json_string(*date);
}

std::optional<std::string> number_json(std::string_view cell, const ValueFormat& format) {
    if (!format.as_is) return json_number(cell, format.decimal);
    if (!is_json_number(cell)) return std::nullopt;
    return std::string(cell);
}

std::optional<std::string> boolean_json(std::string_view cell, const ValueFormat& format) {
    const std::optional<bool> value = boolean_of(cell, format);
    if (!value) return std::nullopt;
    return *value ? "true" : "false";
}

std::optional<std::string> choice_json(std::string_view cell, const rules::Attribute& attribute,
                                       const ValueFormat& format) {
    const std::optional<std::string> choice = choice_of(cell, attribute.choices, format);
    if (!choice) return std::nullopt;
    return json_string(*choice);
}

std::optional<std::string> choices_json(std::string_view cell, const rules::Attribute& attribute,
                                        const ValueFormat& format) {
    std::string json;
    std::vector<std::string> choices;
    for (const std::string_view part : list_parts(cell, format)) {
        std::optional<std::string> choice = choice_of(part, attribute.choices, format);
        if (!choice) return std::nullopt;
        if (std::ranges::find(choices, *choice) == choices.end())
            choices.push_back(*std::move(choice));
    }
    JsonWriter writer(json);
    writer.begin_array();
    for (const std::string& choice : choices) writer.string(choice);
    writer.end_array();
    return json;
}

// The JSON of a cell by the attribute's type; nullopt for a fault.
std::optional<std::string> attribute_json(const rules::Attribute& attribute, std::string_view cell,
                                          const ValueFormat& format) {
    switch (attribute.type) {
        case rules::AttributeType::Number:
            return number_json(cell, format);
        case rules::AttributeType::Boolean:
            return boolean_json(cell, format);
        case rules::AttributeType::SingleChoice:
            return choice_json(cell, attribute, format);
        case rules::AttributeType::MultiChoice:
            return choices_json(cell, attribute, format);
        case rules::AttributeType::Date:
            return date_json(cell, format);
        case rules::AttributeType::Text:
            return json_string(cell);
    }
    return std::nullopt;
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

// Google Contacts writes all addresses of a person into one cell: "a@x.example ::: b@x.example".
std::string_view first_address(std::string_view cell) {
    return trimmed(cell.substr(0, cell.find(" ::: ")));
}

// What --strict allows in a core field.
std::string strict_rule(ValueKind kind) {
    return kind == ValueKind::Date ? "use YYYY-MM-DD, from 1900-01-01 to yesterday"
                                   : "use an ISO 3166-1 alpha-2 code, such as GB";
}

// The column of a cell.
struct CellColumn {
    const ColumnRoute& route;
    const ValueFormat& format;
    ValueKind kind;
};

// One pass over a record.
class RecordPass {
  public:
    RecordPass(const rules::AttributeRegistry& registry, Date today)
        : registry_(registry), today_(today) {}

    void take(const CellColumn& column, std::string_view cell) {
        if (column.route.kind == ColumnRoute::Kind::Ignored) return;
        if (!is_utf8(cell)) {
            add_core(column.route, encoding_fault(column.route.column));
            return;
        }
        switch (column.route.kind) {
            case ColumnRoute::Kind::Ignored:
                return;
            case ColumnRoute::Kind::Core:
                take_core(column, cell);
                return;
            case ColumnRoute::Kind::Attribute:
                take_attribute(column, cell);
                return;
            case ColumnRoute::Kind::AttributesJson:
                json_cells_.emplace_back(column.route.column, cell);
                return;
        }
    }

    Converted finish() {
        for (const auto& [column, cell] : json_cells_)
            take_json(read_json_cell(column, cell, registry_));
        if (attributes_.size() > kMaxAttributes)
            add(field_fault(FieldCode::OutOfRange, "attributes", ""), true);
        const bool has_address = !converted_.fields.email.empty() || has_address_fault_;
        if (!has_address) add(field_fault(FieldCode::Required, "email", ""), true);
        converted_.fields.attributes = attributes_.json();
        return std::move(converted_);
    }

    void add(RowFault fault, bool is_refusal) {
        fault.is_refusal = is_refusal;
        converted_.faults.push_back(std::move(fault));
    }

  private:
    // A fault of the address refuses the record.
    void add_core(const ColumnRoute& route, RowFault fault) {
        const bool is_address =
            route.kind == ColumnRoute::Kind::Core && route.field == rules::CoreField::Email;
        has_address_fault_ = has_address_fault_ || is_address;
        add(std::move(fault), is_address);
    }

    std::string& member(rules::CoreField field) {
        return converted_.fields.*(rules::kCoreFields[static_cast<std::size_t>(field)].sent);
    }

    // The cell in the API's form; nullopt after a fault. "" is an absent value.
    std::optional<std::string> core_text(const CellColumn& column, std::string_view cell) {
        if (column.kind == ValueKind::Country && !column.format.as_is) {
            std::string code(cell);
            ascii_upper(code);
            if (rules::is_country(code)) return code;
            return std::string(country_code(cell).value_or(cell));
        }
        if (column.route.field == rules::CoreField::Email && !column.format.as_is)
            return std::string(first_address(cell));
        if (column.kind != ValueKind::Date || column.format.as_is || is_iso_shape(cell))
            return std::string(cell);
        const DateCell date = read_date(cell);
        if (date.shape == DateCell::Shape::Zero) return "";
        std::optional<std::string> text = iso_date(date, column.format.date.order);
        if (!text) add(date_fault(column.route.column, cell, date, column.format.date), false);
        return text;
    }

    void take_core(const CellColumn& column, std::string_view cell) {
        std::optional<std::string> text = core_text(column, cell);
        if (!text) return;
        const std::optional<FieldCode> fault = rules::normalize(column.route.field, *text, today_);
        if (fault) {
            RowFault found = field_fault(*fault, column.route.column, cell);
            if (column.format.as_is && column.kind != ValueKind::Text)
                found.rule = strict_rule(column.kind);
            add_core(column.route, std::move(found));
            return;
        }
        member(column.route.field) = *std::move(text);
    }

    // A separate column of an attribute has precedence.
    void take_json(JsonCell cell) {
        if (cell.fault) add(*std::move(cell.fault), false);
        for (JsonCellValue& value : cell.values) {
            if (attributes_.has(value.key)) continue;
            if (value.fault) {
                add(*std::move(value.fault), false);
            } else {
                attributes_.add(value.key, std::move(value.json));
            }
        }
    }

    void take_attribute(const CellColumn& column, std::string_view cell) {
        const ColumnRoute& route = column.route;
        const rules::Attribute* attribute = registry_.find(route.attribute_key);
        const DateCell date = column.kind == ValueKind::Date ? read_date(cell) : DateCell{};
        if (attribute == nullptr || date.shape == DateCell::Shape::Zero) return;
        std::optional<std::string> json = attribute_json(*attribute, cell, column.format);
        if (json && json->size() > kMostAttributeBytes) {
            add(attribute_size_fault(route.column, json->size()), false);
        } else if (json) {
            attributes_.add(route.attribute_key, *std::move(json));
        } else if (column.kind == ValueKind::Date) {
            add(date_fault(route.column, cell, date, column.format.date), false);
        } else {
            add(attribute_fault(*attribute, route.column, cell), false);
        }
    }

    const rules::AttributeRegistry& registry_;
    Date today_;
    Converted converted_;
    AttributeList attributes_;
    bool has_address_fault_ = false;
    // Last, because separate columns have precedence.
    std::vector<std::pair<std::string_view, std::string_view>> json_cells_;
};

std::vector<ValueKind> kinds_of(const std::vector<ColumnRoute>& routes,
                                const rules::AttributeRegistry& registry) {
    std::vector<ValueKind> kinds;
    kinds.reserve(routes.size());
    for (const ColumnRoute& route : routes) kinds.push_back(value_kind(route, registry));
    return kinds;
}

}  // namespace

bool Converted::is_refused() const {
    return std::ranges::any_of(faults, &RowFault::is_refusal);
}

Converter::Converter(Setup setup, const rules::AttributeRegistry& registry)
    : setup_(std::move(setup)), kinds_(kinds_of(setup_.routes, registry)), registry_(registry) {}

Converted Converter::convert(const std::vector<std::string>& cells) const {
    RecordPass pass(registry_, setup_.today);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view cell = cell_text(cells[i]);
        if (cell.empty()) continue;
        if (i < setup_.routes.size()) {
            pass.take({setup_.routes[i], setup_.formats[i], kinds_[i]}, cell);
        } else {
            pass.add(too_many_cells_fault(), true);
            break;
        }
    }
    Converted converted = pass.finish();
    if (setup_.rejects_bad_values) {
        for (RowFault& fault : converted.faults) fault.is_refusal = true;
    }
    return converted;
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
