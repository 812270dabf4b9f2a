#include "rules/imports/error_counts.hpp"

#include "base/json.hpp"
#include "json/json_body.hpp"
#include "rules/imports/outcome.hpp"

#include <algorithm>
#include <limits>

namespace muster::rules {

void ErrorCounts::add(RowError error, std::string_view field, std::int64_t count) {
    if (error == RowError::None || count <= 0) return;
    std::pair key(error, std::string(field));
    if (!counts_.contains(key) && fields_of(error) >= kMostFields) key.second.clear();
    // Stored counts can have any value.
    std::int64_t& total = counts_[key];
    total += std::min(count, std::numeric_limits<std::int64_t>::max() - total);
}

std::size_t ErrorCounts::fields_of(RowError error) const {
    return static_cast<std::size_t>(
        std::count_if(counts_.begin(), counts_.end(), [error](const auto& entry) {
            return entry.first.first == error && !entry.first.second.empty();
        }));
}

void ErrorCounts::add(const std::vector<RowOutcome>& outcomes) {
    for (const RowOutcome& outcome : outcomes) {
        if (outcome.error == RowError::None) continue;
        add(outcome.error, row_error_field(outcome.error, outcome.key));
    }
}

void ErrorCounts::add(const ErrorCounts& other) {
    for (const auto& [key, count] : other.counts_) add(key.first, key.second, count);
}

std::vector<ErrorCount> ErrorCounts::list() const {
    std::vector<ErrorCount> list;
    list.reserve(counts_.size());
    for (const auto& [key, count] : counts_) list.push_back({key.first, key.second, count});
    std::stable_sort(list.begin(), list.end(), [](const ErrorCount& left, const ErrorCount& right) {
        return left.count > right.count;
    });
    return list;
}

std::string encode_error_counts(const ErrorCounts& counts) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_array();
    for (const ErrorCount& entry : counts.list()) {
        writer.begin_object();
        writer.key("error");
        writer.string(text_of(entry.error));
        writer.key("field");
        writer.string(entry.field);
        writer.key("count");
        writer.number(entry.count);
        writer.end_object();
    }
    writer.end_array();
    return text;
}

ErrorCounts decode_error_counts(std::string_view json) {
    ErrorCounts counts;
    json::JsonParser parser;
    const auto document = parser.parse(json);
    const auto entries = document ? document->array() : std::nullopt;
    if (!entries) return counts;
    for (const json::JsonIn& entry : *entries) {
        const auto error = entry.member("error");
        const auto field = entry.member("field");
        const auto count = entry.member("count");
        if (!error || !field || !count) continue;
        const auto code = parse<RowError>(error->string().value_or(""));
        if (!code || !field->is_string()) continue;
        counts.add(*code, *field->string(), count->integer().value_or(0));
    }
    return counts;
}

}  // namespace muster::rules
