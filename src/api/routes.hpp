// All endpoints. How to add one: docs/developers/adding.md.
#pragma once

#include "api/endpoint.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// Every row, in the order of groups.cpp.
const std::vector<const Endpoint*>& all_endpoints();

// Whether browsers of other sites call this path (CORS), and by which methods, "GET, HEAD".
struct CrossOrigin {
    const Endpoint* endpoint = nullptr;  // nullptr: they do not
    std::string methods;
};
CrossOrigin cross_origin(std::string_view path);

struct Match {
    const Endpoint* endpoint = nullptr;  // nullptr: see path_known
    std::size_t index = 0;               // its place in all_endpoints()
    std::vector<std::string_view> parameters;
    bool path_known = false;  // a row has this path, with another method
    std::string allow;        // then: the methods that it takes
};
// `path` is raw; segments are compared as they stand.
Match match(http::Method method, std::string_view path);

// METHOD PATH operation access file:line, a line each (`musterd --routes`).
std::string routes_text();

// The locations of the rows for nginx (`musterd --nginx`).
std::string nginx_text();

// The OpenAPI 3.1 document: of what partners call, or of all rows but the edge's.
enum class Described : std::uint8_t { Published, All };
std::string openapi_document(std::string_view base_url, Described described);

}  // namespace muster::api
