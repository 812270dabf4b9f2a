#include "api/routes.hpp"

#include "api/groups.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <set>

namespace muster::api {
namespace {

// One line a group; a group is the table in the file of its first path word.
std::vector<const Endpoint*> collect() {
    std::vector<const Endpoint*> rows;
    const auto add = [&](std::span<const Endpoint> group) {
        for (const Endpoint& row : group) rows.push_back(&row);
    };
    add(attribute_endpoints());
    add(import_endpoints());
    add(user_endpoints());
    add(openapi_endpoints());
    add(health_endpoints());
    return rows;
}

bool is_parameter(std::string_view segment) {
    return segment.starts_with('{');
}

bool path_matches(std::string_view pattern, std::string_view path,
                  std::vector<std::string_view>& parameters) {
    parameters.clear();
    const auto wanted = split(pattern, '/');
    const auto given = split(path, '/');
    if (wanted.size() != given.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (is_parameter(wanted[i])) {
            if (given[i].empty()) return false;
            parameters.push_back(given[i]);
        } else if (wanted[i] != given[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace

const std::vector<const Endpoint*>& all_endpoints() {
    static const std::vector<const Endpoint*> kRows = collect();
    return kRows;
}

Match match(http::Method method, std::string_view path) {
    // HEAD is answered wherever GET is.
    const auto wanted = method == http::Method::Head ? http::Method::Get : method;
    Match found;
    std::vector<std::string_view> parameters;
    std::set<std::string_view> methods;
    const auto& rows = all_endpoints();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!path_matches(rows[i]->path, path, parameters)) continue;
        found.path_known = true;
        if (rows[i]->method == wanted) {
            found.endpoint = rows[i];
            found.index = i;
            found.parameters = parameters;
            return found;
        }
        methods.insert(text_of(rows[i]->method));
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
                std::string(row->operation) +
                (row->access == Access::Open ? " open" : " organization") + "\n";
    }
    return text;
}

}  // namespace muster::api
