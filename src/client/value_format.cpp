#include "client/value_format.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "client/column_key.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace muster::client {
namespace {

// English, German, French, Spanish, Italian, Portuguese and Dutch, as column_key() writes them.
constexpr std::array<std::string_view, 25> kTrueWords = {
    "true",       "yes",  "y",       "1",  "on",  "ja",   "j",         "wahr", "oui",
    "o",          "vrai", "si",      "s",  "sim", "vero", "verdadero", "x",    "waar",
    "verdadeiro", "t",    "checked", "ok", "✓",   "✔",    "☑"};
constexpr std::array<std::string_view, 16> kFalseWords = {
    "false", "no",  "n",   "0",     "off",    "nein", "falsch",    "non",
    "faux",  "nao", "nee", "falso", "onwaar", "f",    "unchecked", "☐"};
// The words of --strict.
constexpr std::array<std::string_view, 4> kStrictTrue = {"true", "yes", "ja", "1"};
constexpr std::array<std::string_view, 4> kStrictFalse = {"false", "no", "nein", "0"};

constexpr std::size_t kMostIntegerDigits = 308;  // docs/api/attributes.md

constexpr std::string_view kAsIs = "as-is";
constexpr std::string_view kSplit = "split:";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view without_digits(std::string_view text) {
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    return text;
}

// `cell` without blanks and apostrophes, which separate thousands, and without a leading +.
std::string compact_number(std::string_view cell) {
    constexpr std::array<std::string_view, 6> kFillers = {
        " ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "\xE2\x80\x99"};
    std::string text;
    while (!cell.empty()) {
        const auto filler = std::ranges::find_if(
            kFillers, [&](std::string_view part) { return cell.starts_with(part); });
        if (filler == kFillers.end()) text += cell.front();
        cell.remove_prefix(filler == kFillers.end() ? 1 : filler->size());
    }
    if (text.starts_with('+')) text.erase(0, 1);
    return text;
}

// "1,234,567" without its commas; nullopt unless each has three digits after it.
std::optional<std::string> without_thousands(std::string_view whole, char mark) {
    if (whole.find(mark) == std::string_view::npos) return std::string(whole);
    std::string text;
    const std::vector<std::string_view> groups = split(whole, mark);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0 && groups[i].size() != 3) return std::nullopt;
        text += groups[i];
    }
    return text;
}

template <std::size_t Count>
bool is_one_of(const std::array<std::string_view, Count>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

bool apply_boolean_words(std::string_view text, ValueFormat& format) {
    const std::vector<std::string_view> words = split(text, '/');
    if (words.size() != 2 || trimmed(words[0]).empty() || trimmed(words[1]).empty()) return false;
    format.true_word = column_key(words[0]);
    format.false_word = column_key(words[1]);
    return format.true_word != format.false_word;
}

bool apply_decimal(std::string_view text, ValueFormat& format) {
    if (text == "decimal-comma") format.decimal = DecimalMark::Comma;
    if (text == "decimal-point") format.decimal = DecimalMark::Point;
    return text == "decimal-comma" || text == "decimal-point";
}

bool apply_date(std::string_view text, ValueFormat& format) {
    const std::optional<DatePattern> pattern = parse_date_pattern(text);
    if (pattern) format.date = *pattern;
    return pattern.has_value();
}

bool apply_separator(std::string_view text, ValueFormat& format) {
    if (!text.starts_with(kSplit) || text.size() == kSplit.size()) return false;
    format.list_separator = text.substr(kSplit.size());
    return true;
}

}  // namespace

bool apply_format(ValueKind kind, std::string_view text, ValueFormat& format) {
    if (text == kAsIs) {
        format.as_is = true;
        return true;
    }
    switch (kind) {
        case ValueKind::Date:
            return apply_date(text, format);
        case ValueKind::Number:
            return apply_decimal(text, format);
        case ValueKind::Boolean:
            return apply_boolean_words(text, format);
        case ValueKind::Choices:
            return apply_separator(text, format);
        case ValueKind::Text:
        case ValueKind::Country:
        case ValueKind::Choice:
            return false;
    }
    return false;
}

std::string_view allowed_formats(ValueKind kind) {
    switch (kind) {
        case ValueKind::Date:
            return "a date format such as DD.MM.YYYY or MM/DD/YYYY, excel, or as-is";
        case ValueKind::Number:
            return "decimal-comma, decimal-point or as-is";
        case ValueKind::Boolean:
            return "the words for true and false, such as Mitglied/Gast, or as-is";
        case ValueKind::Choices:
            return "split: and the separator of the list, such as split:|, or as-is";
        case ValueKind::Text:
        case ValueKind::Country:
        case ValueKind::Choice:
            return "as-is";
    }
    return {};
}

std::string format_text(ValueKind kind, const ValueFormat& format) {
    if (format.as_is) return "";
    switch (kind) {
        case ValueKind::Date:
            if (format.date.order == DateOrder::Serial) return "dates as Excel's day numbers";
            return "dates as " + date_pattern_text(format.date);
        case ValueKind::Number:
            return format.decimal == DecimalMark::Comma ? "decimal comma" : "";
        case ValueKind::Boolean:
            if (format.true_word.empty()) return "";
            return format.true_word + " is true, " + format.false_word + " is false";
        case ValueKind::Choices:
            if (format.list_separator.empty()) return "";
            return "split at \"" + format.list_separator + "\"";
        case ValueKind::Text:
        case ValueKind::Country:
        case ValueKind::Choice:
            return "";
    }
    return {};
}

bool is_json_number(std::string_view text) {
    const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
    if (unsigned_text.empty() || !is_digit(unsigned_text[0])) return false;
    if (unsigned_text.size() > 1 && unsigned_text[0] == '0' && is_digit(unsigned_text[1]))
        return false;
    std::string_view rest = without_digits(unsigned_text);
    if (rest.empty()) return unsigned_text.size() <= kMostIntegerDigits;
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

DecimalMark decimal_mark(std::string_view cell) {
    const std::size_t point = cell.rfind('.');
    const std::size_t comma = cell.rfind(',');
    if (point == std::string_view::npos && comma == std::string_view::npos)
        return DecimalMark::Unknown;
    if (point != std::string_view::npos && comma != std::string_view::npos)
        return point > comma ? DecimalMark::Point : DecimalMark::Comma;
    const bool is_comma = comma != std::string_view::npos;
    const std::size_t at = is_comma ? comma : point;
    const DecimalMark as_decimal = is_comma ? DecimalMark::Comma : DecimalMark::Point;
    const DecimalMark as_thousands = is_comma ? DecimalMark::Point : DecimalMark::Comma;
    if (cell.find(cell[at]) != at) return as_thousands;  // several of them
    const std::size_t sign = cell.starts_with('-') ? 1 : 0;
    const std::string_view whole = cell.substr(sign, at - sign);
    const std::string_view group = cell.substr(at + 1);
    const bool may_be_thousands = group.size() == 3 && without_digits(group).empty() &&
                                  whole.size() <= 3 && !whole.starts_with('0');
    return may_be_thousands ? DecimalMark::Unknown : as_decimal;
}

std::optional<std::string> json_number(std::string_view cell, DecimalMark mark) {
    const std::string text = compact_number(cell);
    const DecimalMark own = decimal_mark(text);
    if (own != DecimalMark::Unknown) mark = own;
    if (mark == DecimalMark::Unknown && text.find(',') != std::string::npos) return std::nullopt;
    const bool proves_nothing = own == DecimalMark::Unknown && mark == DecimalMark::Ambiguous;
    if (proves_nothing && text.find_first_of(".,") != std::string::npos) return std::nullopt;
    const char decimal = mark == DecimalMark::Comma ? ',' : '.';
    const char thousands = mark == DecimalMark::Comma ? '.' : ',';
    const std::size_t at = std::min(text.find(decimal), text.size());
    std::optional<std::string> number =
        without_thousands(std::string_view(text).substr(0, at), thousands);
    if (!number) return std::nullopt;
    if (at < text.size()) number->append(".").append(text, at + 1);
    if (!is_json_number(*number)) return std::nullopt;
    return number;
}

std::optional<bool> boolean_of(std::string_view cell, const ValueFormat& format) {
    if (format.as_is) {
        std::string word(cell);
        ascii_lower(word);
        if (is_one_of(kStrictTrue, word)) return true;
        if (is_one_of(kStrictFalse, word)) return false;
        return std::nullopt;
    }
    const std::string word = column_key(cell);
    if (!format.true_word.empty() && word == format.true_word) return true;
    if (!format.false_word.empty() && word == format.false_word) return false;
    if (is_one_of(kTrueWords, word)) return true;
    if (is_one_of(kFalseWords, word)) return false;
    return std::nullopt;
}

std::optional<std::string> choice_of(std::string_view cell, const std::vector<std::string>& choices,
                                     const ValueFormat& format) {
    std::string whole;
    cell = composed(cell, whole);  // as choices are
    if (std::ranges::find(choices, cell) != choices.end()) return std::string(cell);
    if (format.as_is) return std::nullopt;
    const auto is_same = [&](const std::string& choice) {
        return equal_ignoring_case(choice, cell);
    };
    const auto found = std::ranges::find_if(choices, is_same);
    if (found == choices.end() || std::ranges::count_if(choices, is_same) > 1) return std::nullopt;
    return *found;
}

const std::vector<std::string_view>& list_separators() {
    static const std::vector<std::string_view> kSeparators = {";", "|", ",", ":::", "/", "\n"};
    return kSeparators;
}

std::vector<std::string_view> list_parts(std::string_view cell, const ValueFormat& format) {
    std::string_view separator = format.list_separator;
    if (separator.empty()) {
        const bool has_semicolon = cell.find(';') != std::string_view::npos;
        const bool has_bar = cell.find('|') != std::string_view::npos;
        separator = has_semicolon ? ";" : has_bar ? "|" : ",";
    }
    std::vector<std::string_view> parts;
    std::set<std::string_view> seen;
    for (;;) {
        const std::size_t end = cell.find(separator);
        const std::string_view part = trimmed(cell.substr(0, end));
        if (!part.empty() && seen.insert(part).second) parts.push_back(part);
        if (end == std::string_view::npos) return parts;
        cell.remove_prefix(end + separator.size());
    }
}

}  // namespace muster::client
