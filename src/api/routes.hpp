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

// Whether pages of other sites may call this path (CORS), and with which methods, such as "GET,
// HEAD".
struct CrossOrigin {
    const Endpoint* endpoint = nullptr;  // nullptr: not for other sites
    std::string methods;
};
CrossOrigin cross_origin(std::string_view path);

struct Match {
    const Endpoint* endpoint = nullptr;  // nullptr: see path_known
    std::size_t index = 0;               // index in all_endpoints()
    std::vector<std::string_view> parameters;
    bool path_known = false;  // a row has this path with another method
    std::string allow;        // if path_known: the allowed methods
};
// `path` is the raw path; segments are compared without decoding.
Match match(http::Method method, std::string_view path);

// One line for each row: METHOD PATH operation access file:line (`musterd --routes`).
std::string routes_text();

// The nginx locations of the rows (`musterd --nginx`).
std::string nginx_text();

// The OpenAPI 3.1 document of the published rows, or of all rows except internal ones.
enum class Described : std::uint8_t { Published, All };
std::string openapi_document(std::string_view base_url, Described described);

// Builds the document that getDescription returns, which takes 0.1 seconds. The parent of the
// workers calls it before they exist, so that they share the document.
void prepare_description(const std::string& base_url);

}  // namespace muster::api
