#include "client/value_fault.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/console.hpp"
#include "client/value_format.hpp"
#include "rules/attributes.hpp"

#include <utility>

namespace muster::client {
namespace {

constexpr std::string_view kBirthdays = "from 1900-01-01 to yesterday";

std::string found_text(std::string_view cell) {
    constexpr std::size_t kMostShown = 60;  // bytes
    if (cell.size() > kMostShown) return "has " + std::to_string(cell.size()) + " bytes";
    return "is \"" + printable(cell) + "\"";
}

std::string local_code(std::string_view name) {
    std::string text(name);
    ascii_upper(text);
    return "LOCAL_" + text;
}

RowFault fault(std::string code, std::string_view column, std::string_view cell, std::string rule) {
    return {std::move(code), std::string(column), found_text(cell), std::move(rule), false};
}

std::string rule_of(FieldCode code) {
    switch (code) {
        case FieldCode::InvalidEmail:
            return "use an address such as ann@example.org";
        case FieldCode::InvalidDate:
            return "use an existing date " + std::string(kBirthdays);
        case FieldCode::InvalidCountry:
            return "use a country's name or its ISO 3166-1 code, such as GB";
        case FieldCode::InvalidValue:
            return "remove its line breaks and control characters";
        case FieldCode::TooLong:
            return "shorten it";
        case FieldCode::WrongType:
            return "use a JSON object of attributes";
        case FieldCode::OutOfRange:
            return "are more than 100; ignore some of the columns";
        case FieldCode::Required:
            return "is missing; a member needs an address";
        default:
            return std::string(field_code_message(code));
    }
}

std::string allowed_date(const DatePattern& pattern) {
    if (pattern.order == DateOrder::Serial)
        return "use a day number of Excel, such as 36526 for 2000-01-01, or YYYY-MM-DD";
    return "use an existing date as " + date_pattern_text(pattern);
}

// "1,234" and "1.234": a thousand, or a number with decimals.
bool is_thousands_or_decimals(std::string_view cell) {
    return json_number(cell, DecimalMark::Point) && json_number(cell, DecimalMark::Comma);
}

// "S, M, L" with at most ten choices.
std::string choices_text(const std::vector<std::string>& choices) {
    constexpr std::size_t kMostShown = 10;
    std::string text;
    for (std::size_t i = 0; i < choices.size() && i < kMostShown; ++i) {
        if (i > 0) text += ", ";
        text += printable(choices[i]);
    }
    return choices.size() > kMostShown ? text + ", ..." : text;
}

}  // namespace

std::string RowFault::message() const {
    std::string text = column;
    if (!found.empty()) text.append(text.empty() ? "" : " ").append(found).append(";");
    return text.append(text.empty() ? "" : " ").append(rule);
}

RowFault field_fault(FieldCode code, std::string_view column, std::string_view cell) {
    RowFault made = fault(local_code(field_code_text(code)), column, cell, rule_of(code));
    if (cell.empty()) made.found.clear();
    return made;
}

RowFault date_fault(std::string_view column, std::string_view cell, const DateCell& date,
                    const DatePattern& pattern) {
    const std::string code = local_code(field_code_text(FieldCode::InvalidDate));
    switch (date.shape) {
        case DateCell::Shape::NoYear:
            return fault(code, column, cell, "a date needs a year");
        case DateCell::Shape::ShortYear:
            return fault(code, column, cell, "a year needs four digits");
        case DateCell::Shape::YearLast:
        case DateCell::Shape::Serial:
            return fault(code, column, cell,
                         allowed_date(pattern) + ", or name another format with --format '" +
                             std::string(column) + "=FORMAT'");
        default:
            return fault(code, column, cell, allowed_date(pattern));
    }
}

RowFault attribute_fault(const rules::Attribute& attribute, std::string_view column,
                         std::string_view cell) {
    switch (attribute.type) {
        case rules::AttributeType::Number:
            if (is_thousands_or_decimals(cell)) {
                const bool has_comma = cell.find(',') != std::string_view::npos;
                return fault("LOCAL_INVALID_NUMBER", column, cell,
                             (has_comma ? "the comma may be a decimal comma: use --format '"
                                        : "the point may separate thousands: use --format '") +
                                 std::string(column) + "=decimal-comma' or decimal-point");
            }
            return fault("LOCAL_INVALID_NUMBER", column, cell, "use a number such as 12.5");
        case rules::AttributeType::Boolean:
            return fault("LOCAL_INVALID_BOOLEAN", column, cell,
                         "use yes or no, or name the words with --format '" + std::string(column) +
                             "=WORD/WORD'");
        case rules::AttributeType::SingleChoice:
        case rules::AttributeType::MultiChoice:
            return fault("LOCAL_INVALID_CHOICE", column, cell,
                         "allowed are " + choices_text(attribute.choices));
        case rules::AttributeType::Date:
        case rules::AttributeType::Text:
            return field_fault(FieldCode::InvalidValue, column, cell);
    }
    return {};
}

RowFault json_value_fault(const rules::Attribute* attribute, std::string_view place,
                          std::string_view json) {
    const std::string type = local_code(field_code_text(FieldCode::WrongType));
    if (attribute == nullptr)
        return fault(type, place, json, "use a text, a number, true, false or a list of them");
    switch (attribute->type) {
        case rules::AttributeType::Number:
            return fault("LOCAL_INVALID_NUMBER", place, json, "use a number such as 12.5");
        case rules::AttributeType::Boolean:
            return fault("LOCAL_INVALID_BOOLEAN", place, json, "use true or false");
        case rules::AttributeType::SingleChoice:
            return fault("LOCAL_INVALID_CHOICE", place, json,
                         "allowed are " + choices_text(attribute->choices));
        case rules::AttributeType::MultiChoice:
            return fault("LOCAL_INVALID_CHOICE", place, json,
                         "use a list of " + choices_text(attribute->choices));
        case rules::AttributeType::Date:
            return fault(local_code(field_code_text(FieldCode::InvalidDate)), place, json,
                         "use an existing date as YYYY-MM-DD");
        case rules::AttributeType::Text:
            return fault(type, place, json, "use a text in quotes");
    }
    return {};
}

RowFault attribute_size_fault(std::string_view place, std::size_t bytes) {
    return {local_code(field_code_text(FieldCode::TooLong)), std::string(place),
            "has " + grouped(bytes) + " bytes as JSON, with its quotes and escapes",
            "shorten it to " + grouped(kMostAttributeBytes), false};
}

RowFault encoding_fault(std::string_view column) {
    return {"LOCAL_INVALID_UTF8", std::string(column),
            "has bytes that are not in the file's encoding", "name the encoding with --encoding",
            false};
}

RowFault too_many_cells_fault() {
    return {"LOCAL_TOO_MANY_CELLS", "", "",
            "the record has more cells than the header: put quotes around a cell that holds a "
            "separator",
            true};
}

}  // namespace muster::client
