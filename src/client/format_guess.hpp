// Guesses the format of each column from all of its cells.
#pragma once

#include "client/column_guess.hpp"
#include "client/options.hpp"
#include "client/value_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::rules {
struct Attribute;
}

namespace muster::client {

// What the cells of a file show about its formats. Memory does not depend on the number of rows.
class FormatGuess {
  public:
    // `registry` must outlive it. Throws UsageError for an option that names no column of `routes`,
    // an ignored one, or a format that the column cannot have. `separator` is the file's.
    FormatGuess(const std::vector<ColumnRoute>& routes, const rules::AttributeRegistry& registry,
                const FormatOptions& options, char separator = ',');

    void add(const std::vector<std::string>& cells);

    // A format for each column.
    [[nodiscard]] std::vector<ValueFormat> formats() const;

    // A date that exists with the day and with the month first, "03/07/1985", if no cell shows
    // which one is meant. Another date of the column shows it if it exists in one order only, or
    // has points; one of another column if it exists in one order only.
    struct Ambiguity {
        std::string column;  // "" = there is none
        std::string sample;
        std::string contradiction;         // two cells that show different orders, or ""
        std::vector<std::string> columns;  // all that the answer decides
    };
    [[nodiscard]] Ambiguity ambiguity() const;
    // Decides it for all columns that show nothing themselves.
    void decide(DateOrder order) { decided_ = order; }

  private:
    struct Evidence {
        std::string column;
        ValueKind kind = ValueKind::Text;
        const rules::Attribute* attribute = nullptr;
        ValueFormat fixed;
        bool is_fixed = false;
        // Dates: how many cells exist in one order only, with points in both, and in both.
        std::uint64_t day_first = 0;
        std::uint64_t month_first = 0;
        std::uint64_t with_points = 0;
        std::uint64_t either = 0;
        std::string day_first_sample;
        std::string month_first_sample;
        std::uint64_t serials = 0;
        bool has_short_serial = false;
        bool has_year_first = false;
        char date_separator = 0;
        std::string sample;
        // Numbers.
        std::uint64_t points = 0;
        std::uint64_t commas = 0;
        // Lists: for each separator, the cells whose parts are all choices.
        std::vector<std::uint64_t> lists;
    };
    static void add_date(Evidence& column, std::string_view cell);
    static void add_number(Evidence& column, std::string_view cell);
    static void add_list(Evidence& column, std::string_view cell);
    static bool has_day_first(const Evidence& column);
    static bool proves_order(const Evidence& column);
    static bool is_ambiguous(const Evidence& column);
    std::optional<DateOrder> order_of_others() const;
    std::string contradiction(const Evidence& own) const;
    std::vector<std::string> ambiguous_columns() const;
    DatePattern date_pattern(const Evidence& column) const;
    bool may_have_decimal_commas() const;
    DecimalMark decimal_of(const Evidence& column) const;
    ValueFormat format_of(const Evidence& column) const;

    std::vector<Evidence> columns_;
    char separator_;
    std::optional<DateOrder> decided_;
};

}  // namespace muster::client
