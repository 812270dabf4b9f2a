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

// The rows' path patterns, split once.
const std::vector<Segments>& all_patterns() {
    static const std::vector<Segments> kPatterns = [] {
        std::vector<Segments> patterns;
        for (const Endpoint* row : all_endpoints()) patterns.push_back(split(row->path, '/'));
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

// The rows with this path. A literal segment wins over a parameter, so /v1/users/export does not
// name a user.
std::vector<std::size_t> rows_of(const Segments& path) {
    std::vector<std::size_t> found;
    std::size_t fewest = path.size();
    for (std::size_t i = 0; i < all_patterns().size(); ++i) {
        const Segments& pattern = all_patterns()[i];
        if (!matches(pattern, path)) continue;
        const auto parameters =
            static_cast<std::size_t>(std::count_if(pattern.begin(), pattern.end(), is_parameter));
        if (parameters < fewest) found.clear();
        fewest = std::min(fewest, parameters);
        if (parameters == fewest) found.push_back(i);
    }
    return found;
}

}  // namespace

const std::vector<const Endpoint*>& all_endpoints() {
    static const std::vector<const Endpoint*> kRows = collect();
    return kRows;
}

CrossOrigin cross_origin(std::string_view path) {
    CrossOrigin found;
    const Segments segments = split(path, '/');
    const auto& rows = all_endpoints();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!is_publishable(rows[i]->access) || !matches(all_patterns()[i], segments)) continue;
        found.endpoint = rows[i];
        if (!found.methods.empty()) found.methods += ", ";
        found.methods += text_of(rows[i]->method);
        if (rows[i]->method == http::Method::Get) found.methods += ", HEAD";
    }
    return found;
}

Match match(http::Method method, std::string_view path) {
    // HEAD is allowed for every GET.
    const auto row_method = method == http::Method::Head ? http::Method::Get : method;
    Match found;
    const Segments segments = split(path, '/');
    std::set<std::string_view> methods;
    const auto& rows = all_endpoints();
    for (const std::size_t i : rows_of(segments)) {
        found.path_known = true;
        if (rows[i]->method == row_method) {
            found.endpoint = rows[i];
            found.index = i;
            found.parameters = parameters_of(all_patterns()[i], segments);
            return found;
        }
        methods.insert(text_of(rows[i]->method));
        if (is_publishable(rows[i]->access)) methods.insert(text_of(http::Method::Options));
        if (rows[i]->method == http::Method::Get) methods.insert(text_of(http::Method::Head));
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
