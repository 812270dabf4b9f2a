// How the cells of a column write their values: guessed from the column's data (format_guess.hpp),
// or named by --format. Converting keeps the API's rule: the server never transforms values.
#pragma once

#include "client/column_guess.hpp"
#include "client/dates.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// Unknown: "1.234" has decimals, and "1,234" is a fault. Ambiguous: the file may write decimal
// commas, so "1.234" is a fault too.
enum class DecimalMark : std::uint8_t { Unknown, Ambiguous, Point, Comma };

struct ValueFormat {
    bool as_is = false;  // --strict or --format COLUMN=as-is: only the API's own forms are read
    DatePattern date;
    DecimalMark decimal = DecimalMark::Unknown;
    std::string list_separator;  // "" = decided for each cell
    std::string true_word;       // in addition to the words of kTrueWords; "" = none
    std::string false_word;

    bool operator==(const ValueFormat&) const = default;
};

// Applies the FORMAT of --format COLUMN=FORMAT, or of --date-format, to `format`. False if a column
// of this kind does not have such a format.
[[nodiscard]] bool apply_format(ValueKind kind, std::string_view text, ValueFormat& format);
// The formats that a column of this kind can have, for an error message.
[[nodiscard]] std::string_view allowed_formats(ValueKind kind);
// "dates as DD.MM.YYYY"; "" if there is nothing to confirm.
[[nodiscard]] std::string format_text(ValueKind kind, const ValueFormat& format);

// A number of RFC 8259 that the API accepts: an integer of at most 308 digits, or a finite double.
[[nodiscard]] bool is_json_number(std::string_view text);
// The decimal mark that a number alone proves: Comma for "12,5" and "1.234,50", Unknown for
// "1,234".
[[nodiscard]] DecimalMark decimal_mark(std::string_view cell);
// The JSON number of a cell, without the separators of thousands; nullopt if it is not a number.
[[nodiscard]] std::optional<std::string> json_number(std::string_view cell, DecimalMark mark);

// Words in seven languages, 1 and 0, and the words of the format.
[[nodiscard]] std::optional<bool> boolean_of(std::string_view cell, const ValueFormat& format);

// The choice that a cell means: the same text, with accents composed, or the only one that is equal
// without regard to the case of ASCII letters.
[[nodiscard]] std::optional<std::string> choice_of(std::string_view cell,
                                                   const std::vector<std::string>& choices,
                                                   const ValueFormat& format);
// Separators of lists, the most likely first.
[[nodiscard]] const std::vector<std::string_view>& list_separators();
// The parts of a list, trimmed, without empty and repeated ones.
[[nodiscard]] std::vector<std::string_view> list_parts(std::string_view cell,
                                                       const ValueFormat& format);

}  // namespace muster::client
