#include "http/query.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace muster::http {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// "attribute." and the longest key of an attribute have 74 characters.
constexpr std::size_t kLongestName = 80;

// An optional minus and any number of digits, so the number may exceed every integer type.
bool is_integer(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_value(text[i + 1]);
            const int low = hex_value(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c == '\0') return std::nullopt;
        out += c;
    }
    if (!is_utf8(out)) return std::nullopt;
    return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
    for (const std::string_view pair : split(query, '&')) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos) continue;
        if (percent_decoded(pair.substr(0, equals)) != name) continue;
        return percent_decoded(pair.substr(equals + 1));
    }
    return std::nullopt;
}

Query::Query(std::string_view query, Faults& faults) : faults_(faults) {
    if (query.empty()) return;
    for (const std::string_view pair : split(query, '&')) {
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        auto name = percent_decoded(pair.substr(0, equals));
        auto value = equals == std::string_view::npos ? std::string()
                                                      : percent_decoded(pair.substr(equals + 1));
        if (!name || name->size() > kLongestName) {
            faults_.add("query", FieldCode::InvalidValue);
        } else if (!value) {
            faults_.add(*name, FieldCode::InvalidValue);
            known_.insert(*name);
        } else if (!values_.emplace(*name, std::move(*value)).second) {
            faults_.add(*name, FieldCode::Duplicate);
        }
    }
}

std::optional<std::string> Query::text(std::string_view name, std::size_t max_length) {
    known_.emplace(name);
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    if (utf8_length(found->second) > max_length) {
        faults_.add(std::string(name), FieldCode::TooLong, longest(max_length));
    }
    return found->second;
}

int Query::integer(std::string_view name, int fallback, int least, int most) {
    const auto value = text(name, 64);
    if (!value) return fallback;
    const auto number = parse_number<std::int64_t>(*value);
    if (!is_integer(*value)) {
        faults_.add(std::string(name), FieldCode::WrongType,
                    "is not an integer in decimal digits; use " + std::to_string(least) + " to " +
                        std::to_string(most),
                    between(least, most));
    } else if (!number || *number < least || *number > most) {
        faults_.add(std::string(name), FieldCode::OutOfRange, between(least, most));
    } else {
        return static_cast<int>(*number);
    }
    return fallback;
}

bool Query::flag(std::string_view name) {
    const auto value = text(name, 64);
    if (!value || *value == "false") return false;
    if (*value != "true") {
        faults_.add(std::string(name), FieldCode::InvalidChoice, {.allowed = {"true", "false"}});
    }
    return true;
}

std::map<std::string, std::string> Query::all_of(std::string_view prefix, std::size_t max_length) {
    std::map<std::string, std::string> found;
    for (auto value = values_.lower_bound(prefix);
         value != values_.end() && value->first.starts_with(prefix); ++value) {
        found.emplace(value->first.substr(prefix.size()),
                      text(value->first, max_length).value_or(""));
    }
    return found;
}

void Query::finish() {
    for (const auto& [name, value] : values_) {
        if (!known_.contains(name)) faults_.add(name, FieldCode::UnknownField);
    }
}

}  // namespace muster::http
