#include "client/format_guess.hpp"
#include "rules/attributes.hpp"

#include "base/command_line.hpp"
#include "client/cell_text.hpp"

#include <algorithm>
#include <utility>

namespace muster::client {
namespace {

std::vector<std::string> names_of(const std::vector<ColumnRoute>& routes) {
    std::vector<std::string> names;
    names.reserve(routes.size());
    for (const ColumnRoute& route : routes) names.push_back(route.column);
    return names;
}

}  // namespace

FormatGuess::FormatGuess(const std::vector<ColumnRoute>& routes,
                         const rules::AttributeRegistry& registry, const FormatOptions& options,
                         char separator)
    : separator_(separator) {
    for (const ColumnRoute& route : routes) {
        Evidence column;
        column.column = route.column;
        column.kind = value_kind(route, registry);
        column.attribute = registry.find(route.attribute_key);
        column.lists.resize(list_separators().size());
        column.fixed.as_is = options.strict;
        column.is_fixed = options.strict;
        if (!options.date_format.empty() && column.kind == ValueKind::Date) {
            column.is_fixed = apply_format(column.kind, options.date_format, column.fixed);
        }
        columns_.push_back(std::move(column));
    }
    for (const FormatOption& option : options.columns) {
        const std::size_t at = find_column("--format", option.column, names_of(routes));
        Evidence& column = columns_[at];
        if (routes[at].kind == ColumnRoute::Kind::Ignored) {
            throw UsageError("--format " + option.column + ": the column is ignored; add --map '" +
                             option.column + "=TARGET'");
        }
        column.fixed = {};
        column.is_fixed = apply_format(column.kind, option.format, column.fixed);
        if (column.is_fixed) continue;
        throw invalid_value("--format " + option.column, option.format,
                            allowed_formats(column.kind));
    }
}

void FormatGuess::add(const std::vector<std::string>& cells) {
    const std::size_t count = std::min(cells.size(), columns_.size());
    for (std::size_t i = 0; i < count; ++i) {
        Evidence& column = columns_[i];
        if (column.is_fixed) continue;
        if (column.kind == ValueKind::Date) add_date(column, cell_text(cells[i]));
        if (column.kind == ValueKind::Number) add_number(column, cell_text(cells[i]));
        if (column.kind == ValueKind::Choices) add_list(column, cell_text(cells[i]));
    }
}

void FormatGuess::add_date(Evidence& column, std::string_view cell) {
    if (cell.empty()) return;
    if (is_iso_shape(cell)) {
        column.has_year_first = true;
        return;
    }
    const DateCell date = read_date(cell);
    column.has_year_first = column.has_year_first || date.shape == DateCell::Shape::YearFirst;
    if (date.shape == DateCell::Shape::Serial) {
        constexpr int kFiveDigits = 10'000;
        ++column.serials;
        column.has_short_serial = column.has_short_serial || date.first < kFiveDigits;
    }
    if (date.shape != DateCell::Shape::YearLast) return;
    if (column.date_separator == 0) column.date_separator = date.separator;
    // Only an existing day shows an order.
    const bool may_be_day_first = iso_date(date, DateOrder::DayFirst).has_value();
    const bool may_be_month_first = iso_date(date, DateOrder::MonthFirst).has_value();
    if (may_be_day_first && !may_be_month_first) {
        if (column.day_first++ == 0) column.day_first_sample = cell;
    } else if (may_be_month_first && !may_be_day_first) {
        if (column.month_first++ == 0) column.month_first_sample = cell;
    } else if (may_be_day_first && date.separator == '.') {
        // Dates with points have the day first in every country.
        ++column.with_points;
        if (column.day_first_sample.empty()) column.day_first_sample = cell;
    } else if (may_be_day_first && date.first != date.second) {
        if (column.either++ == 0) column.sample = cell;
    }
}

void FormatGuess::add_number(Evidence& column, std::string_view cell) {
    const std::optional<std::string> point = json_number(cell, DecimalMark::Point);
    const std::optional<std::string> comma = json_number(cell, DecimalMark::Comma);
    if (!point && !comma) return;
    if (point == comma) {  // the cell itself proves it, or it has no mark
        const DecimalMark mark = decimal_mark(cell);
        if (mark == DecimalMark::Point) ++column.points;
        if (mark == DecimalMark::Comma) ++column.commas;
    }
}

void FormatGuess::add_list(Evidence& column, std::string_view cell) {
    if (cell.empty()) return;
    ValueFormat format;
    for (std::size_t i = 0; i < column.lists.size(); ++i) {
        format.list_separator = list_separators()[i];
        const std::vector<std::string_view> parts = list_parts(cell, format);
        const bool is_known = std::ranges::all_of(parts, [&](std::string_view part) {
            return choice_of(part, column.attribute->choices, format).has_value();
        });
        if (is_known) ++column.lists[i];
    }
}

bool FormatGuess::has_day_first(const Evidence& column) {
    return column.day_first + column.with_points > 0;
}

bool FormatGuess::proves_order(const Evidence& column) {
    return has_day_first(column) != (column.month_first > 0);
}

// A column with proofs of both orders is ambiguous too.
bool FormatGuess::is_ambiguous(const Evidence& column) {
    return column.kind == ValueKind::Date && !column.is_fixed && column.either > 0 &&
           !proves_order(column);
}

// The order that another column of the file proves, unless two columns contradict each other. Dates
// with points are a habit of their column: the dates of another one may come from elsewhere.
std::optional<DateOrder> FormatGuess::order_of_others() const {
    std::optional<DateOrder> order;
    for (const Evidence& column : columns_) {
        if (!proves_order(column) || column.day_first + column.month_first == 0) continue;
        const DateOrder own = column.day_first > 0 ? DateOrder::DayFirst : DateOrder::MonthFirst;
        if (order && *order != own) return std::nullopt;
        order = own;
    }
    return order;
}

// A cell of each order: of the column, or else of all columns; "" if one order has no cell.
std::string FormatGuess::contradiction(const Evidence& own) const {
    const bool is_mixed = has_day_first(own) && own.month_first > 0;
    std::string day_first;
    std::string month_first;
    for (const Evidence& column : columns_) {
        if (is_mixed && &column != &own) continue;
        if (is_mixed || column.day_first > 0) day_first = column.day_first_sample;
        if (column.month_first > 0) month_first = column.month_first_sample;
    }
    if (day_first.empty() || month_first.empty()) return "";
    return "\"" + day_first + "\" has the day first, and \"" + month_first + "\" the month";
}

std::vector<std::string> FormatGuess::ambiguous_columns() const {
    std::vector<std::string> names;
    for (const Evidence& column : columns_) {
        if (is_ambiguous(column)) names.push_back(column.column);
    }
    return names;
}

FormatGuess::Ambiguity FormatGuess::ambiguity() const {
    for (const Evidence& column : columns_) {
        const bool is_mixed = has_day_first(column) && column.month_first > 0;
        if (!is_ambiguous(column) || decided_) continue;
        if (is_mixed || !order_of_others())
            return {column.column, column.sample, contradiction(column), ambiguous_columns()};
    }
    return {};
}

DatePattern FormatGuess::date_pattern(const Evidence& column) const {
    const bool has_dates =
        column.has_year_first || has_day_first(column) || column.month_first + column.either > 0;
    if (!has_dates && column.serials > 0 && !column.has_short_serial) return {DateOrder::Serial, 0};
    if (column.date_separator == 0) return {};
    if (is_ambiguous(column)) {
        const DateOrder fallback = order_of_others().value_or(DateOrder::DayFirst);
        return {decided_.value_or(fallback), column.date_separator};
    }
    const bool is_day_first = column.day_first + column.with_points >= column.month_first;
    return {is_day_first ? DateOrder::DayFirst : DateOrder::MonthFirst, column.date_separator};
}

// Programs of a country with decimal commas separate the cells with semicolons.
bool FormatGuess::may_have_decimal_commas() const {
    return separator_ == ';' || std::ranges::any_of(columns_, [](const Evidence& column) {
               return column.commas > 0 || column.fixed.decimal == DecimalMark::Comma;
           });
}

DecimalMark FormatGuess::decimal_of(const Evidence& column) const {
    if ((column.points > 0) != (column.commas > 0))
        return column.commas > 0 ? DecimalMark::Comma : DecimalMark::Point;
    return may_have_decimal_commas() ? DecimalMark::Ambiguous : DecimalMark::Unknown;
}

ValueFormat FormatGuess::format_of(const Evidence& column) const {
    if (column.is_fixed) return column.fixed;
    ValueFormat format;
    if (column.kind == ValueKind::Date) format.date = date_pattern(column);
    if (column.kind == ValueKind::Number) format.decimal = decimal_of(column);
    if (column.kind == ValueKind::Choices) {
        const auto best = std::ranges::max_element(column.lists);
        if (best != column.lists.end() && *best > 0)
            format.list_separator = list_separators()[best - column.lists.begin()];
    }
    return format;
}

std::vector<ValueFormat> FormatGuess::formats() const {
    std::vector<ValueFormat> formats;
    for (const Evidence& column : columns_) formats.push_back(format_of(column));
    return formats;
}

}  // namespace muster::client
