#include "api/routes.hpp"

#include "api/groups.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <set>

namespace muster::api {
namespace {

std::vector<const Endpoint*> collect() {
    std::vector<const Endpoint*> rows;
    for (const Group& group : all_groups()) {
        for (const Endpoint& row : group.endpoints()) rows.push_back(&row);
    }
    return rows;
}

bool is_parameter(std::string_view segment) {
    return segment.starts_with('{');
}

using Segments = std::vector<std::string_view>;

// A row's path, split once.
struct Pattern {
    Segments segments;
    std::size_t parameters = 0;
    std::size_t row = 0;  // its index
};

Pattern pattern_of(std::size_t row) {
    Pattern pattern{split(all_endpoints()[row]->path, '/'), 0, row};
    const auto parameters =
        std::count_if(pattern.segments.begin(), pattern.segments.end(), is_parameter);
    pattern.parameters = static_cast<std::size_t>(parameters);
    return pattern;
}

// The patterns of all rows, those with fewer parameters first: a literal segment wins over a
// parameter, so /v1/users/export does not name a user.
const std::vector<Pattern>& all_patterns() {
    static const std::vector<Pattern> kPatterns = [] {
        std::vector<Pattern> patterns;
        for (std::size_t row = 0; row < all_endpoints().size(); ++row) {
            patterns.push_back(pattern_of(row));
        }
        std::ranges::stable_sort(patterns, {}, &Pattern::parameters);
        return patterns;
    }();
    return kPatterns;
}

bool matches(const Segments& pattern, const Segments& path) {
    if (pattern.size() != path.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (is_parameter(pattern[i]) ? path[i].empty() : pattern[i] != path[i]) return false;
    }
    return true;
}

Segments parameters_of(const Segments& pattern, const Segments& path) {
    Segments parameters;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (is_parameter(pattern[i])) parameters.push_back(path[i]);
    }
    return parameters;
}

}  // namespace

const std::vector<const Endpoint*>& all_endpoints() {
    static const std::vector<const Endpoint*> kRows = collect();
    return kRows;
}

CrossOrigin cross_origin(std::string_view path) {
    CrossOrigin found;
    const Segments segments = split(path, '/');
    for (const Pattern& pattern : all_patterns()) {
        const Endpoint* row = all_endpoints()[pattern.row];
        if (!is_publishable(row->access) || !matches(pattern.segments, segments)) continue;
        found.endpoint = row;
        if (!found.methods.empty()) found.methods += ", ";
        found.methods += text_of(row->method);
        if (row->method == http::Method::Get) found.methods += ", HEAD";
    }
    return found;
}

Match match(http::Method method, std::string_view path) {
    // HEAD is allowed for every GET.
    const auto row_method = method == http::Method::Head ? http::Method::Get : method;
    Match found;
    const Segments segments = split(path, '/');
    std::set<std::string_view> methods;
    std::size_t parameters = segments.size();  // of the first match
    for (const Pattern& pattern : all_patterns()) {
        if (pattern.parameters > parameters) break;
        if (!matches(pattern.segments, segments)) continue;
        parameters = pattern.parameters;
        found.path_known = true;
        const Endpoint* row = all_endpoints()[pattern.row];
        if (row->method == row_method) {
            found.endpoint = row;
            found.index = pattern.row;
            found.parameters = parameters_of(pattern.segments, segments);
            return found;
        }
        methods.insert(text_of(row->method));
        if (is_publishable(row->access)) methods.insert(text_of(http::Method::Options));
        if (row->method == http::Method::Get) methods.insert(text_of(http::Method::Head));
    }
    for (const std::string_view name : methods) {
        if (!found.allow.empty()) found.allow += ", ";
        found.allow += name;
    }
    return found;
}

std::string routes_text() {
    std::string text;
    for (const Endpoint* row : all_endpoints()) {
        text += std::string(text_of(row->method)) + " " + std::string(row->path) + " " +
                std::string(row->operation) + " " + std::string(text_of(row->access)) + " " +
                row->operation.file + ":" + std::to_string(row->operation.line) + "\n";
    }
    return text;
}

}  // namespace muster::api
