// Prints nginx/snippets/muster-routes.conf: the nginx locations of the rows. A path without its own
// location is served by the enclosing one.
#include "api/routes.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

namespace muster::api {
namespace {

using http::Method;

constexpr std::string_view kHead =
    "# Muster, server level: the locations of the endpoints. Printed by `musterd --nginx`: change the rows in src/api instead.\n"
    "# docs/api/limits.md \"Limits\" lists the maximum body sizes. nginx reads the whole body first, so that a slow client does not\n"
    "# occupy a worker. If bodies may have up to 1 MiB, they stay in memory: the buffer also fits the framing of chunks, if they have\n"
    "# 100 bytes or more. Where bodies may be larger, those above 272 KiB go to temporary files: an nginx worker that takes new\n"
    "# memory for each one is slower.\n";

// The directives of a location, one per line; "" for none.
using Directives = std::string;

std::string include(std::string_view name) {
    return "include snippets/muster-" + std::string(name) + ".conf;\n";
}

std::string bytes_text(std::size_t bytes) {
    const std::size_t kibibytes = bytes >> 10U;
    return kibibytes % 1024 == 0 ? std::to_string(kibibytes >> 10U) + "m"
                                 : std::to_string(kibibytes) + "k";
}

constexpr std::size_t kMostInMemory = 1U << 20U;
constexpr std::size_t kBufferBeforeFile = 256U << 10U;

Directives body_cap(std::size_t bytes) {
    const std::size_t buffered = bytes > kMostInMemory ? kBufferBeforeFile : bytes;
    return "client_max_body_size " + bytes_text(bytes) + ";\n" + "client_body_buffer_size " +
           bytes_text(buffered + buffered / 16) + ";\n";
}

using Rows = std::vector<const Endpoint*>;

std::string_view upstream_of(WorkerGroup group) {
    if (group == WorkerGroup::Readers) return "muster_reader";
    return group == WorkerGroup::Collectors ? "muster_collector" : "muster";
}

// The maps of muster-http.conf, for paths whose methods have different workers.
struct MethodMap {
    Method method;
    WorkerGroup group;  // runs this method; the API workers run the others
    std::string_view variable;
};
constexpr std::array kMethodMaps = {
    MethodMap{Method::Get, WorkerGroup::Readers, "$muster_reading"},
    MethodMap{Method::Post, WorkerGroup::Collectors, "$muster_collecting"},
};

bool fits(const MethodMap& map, const Rows& rows) {
    return std::all_of(rows.begin(), rows.end(), [&](const Endpoint* row) {
        return row->workers == (row->method == map.method ? map.group : WorkerGroup::Api);
    });
}

// The upstream, or the variable that names it.
std::string_view target_of(const Rows& rows) {
    const WorkerGroup first = rows.front()->workers;
    const bool is_same = std::all_of(rows.begin(), rows.end(),
                                     [&](const Endpoint* row) { return row->workers == first; });
    if (is_same) return upstream_of(first);
    for (const MethodMap& map : kMethodMaps) {
        if (fits(map, rows)) return map.variable;
    }
    throw std::logic_error("the workers of " + std::string(rows.front()->path) +
                           " need a map in muster-http.conf");
}

Directives pass(std::string_view target) {
    return "fastcgi_pass " + std::string(target) + ";\n" + include("fastcgi");
}

// The directives for access and for the workers.
Directives access_directives(const Rows& rows) {
    const Endpoint& row = *rows.front();
    if (row.is_local) return include("local");
    if (row.access == Access::Console) return include("console-only");
    const std::string_view target = target_of(rows);
    if (!is_publishable(row.access)) {
        if (target == upstream_of(WorkerGroup::Api)) return include("app");
        return include("client-rate") + include("client-connections") + pass(target);
    }
    Directives text = include("page");
    if (row.access == Access::ContentKey) text += include("content");
    return text + pass(target);
}

const Directives& application() {
    static const Endpoint kPlain{};
    static const Directives kText = access_directives({&kPlain});
    return kText;
}

std::size_t body_limit_of(const Rows& rows) {
    std::size_t limit = 0;
    for (const Endpoint* row : rows) limit = std::max(limit, row->body_limit);
    return limit;
}

bool has_long_answer(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const Endpoint* row) { return row->handler.shape.is_streamed; });
}

// Whether nginx asks a worker about the credential before it reads the body. nginx then takes no
// body of a stranger, and counts the requests of each organization.
bool checks_credential_first(const Rows& rows) {
    return body_limit_of(rows) > kEventsBody || has_long_answer(rows);
}

// The location of the requests whose credential is accepted.
std::string accepted_location(const Rows& rows) {
    return "@" + std::string(rows.front()->operation);
}

Directives accepted_directives(const Rows& rows) {
    Directives text;
    const std::size_t limit = body_limit_of(rows);
    if (limit > kSmallBody) text += body_cap(limit);
    text += include("credential-accepted");
    if (limit > kEventsBody) text += include("large-body");
    if (has_long_answer(rows)) text += include("long-answer");
    return text + pass(target_of(rows));
}

Directives directives_of(const Rows& rows) {
    Directives text;
    for (const Endpoint* row : rows) {
        if (row->has_secret_query) text += "error_log /dev/null emerg;\n";
        if (row->is_static) text += include("compress");
    }
    const std::size_t limit = body_limit_of(rows);
    if (limit > kSmallBody) text += body_cap(limit);
    if (!checks_credential_first(rows)) return text + access_directives(rows);
    return text + include("credential-first") + "try_files /_muster/none " +
           accepted_location(rows) + ";\n";
}

// The paths as a tree of segments.
struct Node {
    std::map<std::string, Node> below;
    Rows rows;
};

Node tree_of_rows() {
    Node root;
    for (const Endpoint* row : all_endpoints()) {
        Node* node = &root;
        for (const std::string_view segment : split(row->path.substr(1), '/')) {
            node = &node->below[std::string(segment)];
        }
        node->rows.push_back(row);
    }
    return root;
}

void collect_below(const Node& node, std::set<Directives>& to) {
    for (const auto& [segment, child] : node.below) {
        if (!child.rows.empty()) to.insert(directives_of(child.rows));
        collect_below(child, to);
    }
}

// The directives of the location that encloses the paths below a node: those that all these paths
// share, otherwise `around`, or the application's if `around` is empty. A node that needs no such
// location returns `around`.
Directives default_directives(const Node& node, const std::string& path, const Directives& around) {
    const bool is_only_a_prefix = node.rows.empty() && node.below.size() < 2;
    if (path.empty() || is_only_a_prefix || node.below.empty()) return around;
    if (path.find('{') != std::string::npos) return around;
    std::set<Directives> all;
    collect_below(node, all);
    if (all.size() == 1) return *all.begin();
    return around.empty() ? application() : around;
}

// "= /v1/track", or a pattern if the path has a parameter.
std::string matcher(const std::string& path) {
    if (path.find('{') == std::string::npos) return "= " + path;
    std::string pattern = "~ ^";
    for (const std::string_view segment : split(std::string_view(path).substr(1), '/')) {
        pattern.append("/").append(segment.starts_with('{') ? "[^/]+" : segment);
    }
    return pattern + "$";
}

void add_location(std::string& to, const std::string& matched, const Directives& directives) {
    to += "location " + matched + " {\n";
    for (const std::string_view line : split(directives, '\n')) {
        if (!line.empty()) to.append("    ").append(line).append("\n");
    }
    to += "}\n";
}

void add_locations(std::string& to, const Node& node, const std::string& path,
                   const Directives& around) {
    const Directives inside = default_directives(node, path, around);
    if (!node.rows.empty()) {
        const Directives own = directives_of(node.rows);
        if (own != around) add_location(to, matcher(path), own);
        if (checks_credential_first(node.rows)) {
            add_location(to, accepted_location(node.rows), accepted_directives(node.rows));
        }
    } else if (inside != around) {
        add_location(to, matcher(path),
                     "return 404;\n");  // otherwise nginx redirects to the path with a slash
    }
    if (inside != around) add_location(to, path + "/", inside);
    for (const auto& [segment, child] : node.below) {
        std::string below = path;
        below.append("/").append(segment);
        add_locations(to, child, below, inside);
    }
}

}  // namespace

std::string nginx_text() {
    std::string text(kHead);
    text += body_cap(kSmallBody);
    add_locations(text, tree_of_rows(), "", "");
    return text;
}

}  // namespace muster::api
