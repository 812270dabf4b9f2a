// api/routes.hpp: which row handles a path, and which methods a path allows.
#include "api/routes.hpp"

#include "print.hpp"

#include <fstream>
#include <set>
#include <string>
#include <vector>

using muster::api::all_endpoints;
using muster::http::Method;

namespace {

const std::string kId = "01a1fd2d-5668-7068-9e60-bb07fac2d373";

// "operation parameter…", or "404", or "405 Allow".
std::string routed(Method method, const std::string& path) {
    const auto match = muster::api::match(method, path);
    if (!match.endpoint) return match.path_known ? "405 " + match.allow : "404";
    std::string text(match.endpoint->operation);
    for (const std::string_view parameter : match.parameters) text.append(" ").append(parameter);
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(routes)

BOOST_AUTO_TEST_CASE(a_path_is_handled_by_its_row) {
    const std::vector<std::tuple<Method, std::string, std::string>> table = {
        {Method::Post, "/v1/imports", "createImport"},
        {Method::Get, "/v1/imports", "listImports"},
        {Method::Get, "/v1/imports/" + kId, "getImport " + kId},
        {Method::Post, "/v1/imports/" + kId + "/rows", "stageImportRows " + kId},
        {Method::Get, "/v1/imports/" + kId + "/rows", "listImportRows " + kId},
        {Method::Post, "/v1/imports/" + kId + "/validate", "validateImport " + kId},
        {Method::Post, "/v1/imports/" + kId + "/commit", "commitImport " + kId},
        {Method::Post, "/v1/imports/" + kId + "/reopen", "reopenImport " + kId},
        {Method::Post, "/v1/imports/" + kId + "/cancel", "cancelImport " + kId},
        {Method::Post, "/v1/imports/" + kId + "/undo", "undoImport " + kId},
        {Method::Get, "/v1/imports/" + kId + "/error-report", "getImportErrorReport " + kId},
        {Method::Post, "/v1/users", "createUser"},
        {Method::Get, "/v1/users/" + kId, "getUser " + kId},
        {Method::Get, "/v1/attributes", "listAttributes"},
        {Method::Get, "/v1/audit-log", "listAuditLog"},
        {Method::Get, "/openapi/partner.json", "getDescription"},
        {Method::Get, "/v1/users", "listUsers"},
        {Method::Patch, "/v1/users/" + kId, "updateUser " + kId},
        {Method::Delete, "/v1/users/" + kId, "removeUser " + kId},
        {Method::Get, "/v1/users/" + kId + "/attributes", "listUserAttributes " + kId},
        {Method::Post, "/v1/users/" + kId + "/lock", "lockUser " + kId},
        {Method::Post, "/v1/users/" + kId + "/unlock", "unlockUser " + kId},
        {Method::Put, "/v1/attributes/shoe", "putAttribute shoe"},
        {Method::Get, "/healthz", "getHealth"},
        {Method::Get, "/readyz", "getReadiness"},
        {Method::Get, "/metrics", "getMetrics"},
    };
    for (const auto& [method, path, expected] : table) BOOST_TEST(routed(method, path) == expected);
}

BOOST_AUTO_TEST_CASE(head_is_allowed_where_get_is) {
    BOOST_TEST(routed(Method::Head, "/v1/imports") == "listImports");
    BOOST_TEST(routed(Method::Head, "/healthz") == "getHealth");
    BOOST_TEST(routed(Method::Head, "/v1/api-keys/" + kId) == "getApiKey " + kId);
    BOOST_TEST(routed(Method::Head, "/v1/users/" + kId + "/lock") == "405 POST");
}

BOOST_AUTO_TEST_CASE(an_unsupported_method_lists_the_allowed_ones) {
    BOOST_TEST(routed(Method::Delete, "/v1/imports") == "405 GET, HEAD, POST");
    BOOST_TEST(routed(Method::Patch, "/v1/imports/" + kId) == "405 GET, HEAD");
    BOOST_TEST(routed(Method::Get, "/v1/imports/" + kId + "/commit") == "405 POST");
    BOOST_TEST(routed(Method::Other, "/healthz") == "405 GET, HEAD");
    BOOST_TEST(routed(Method::Options, "/v1/users") == "405 GET, HEAD, POST");
}

BOOST_AUTO_TEST_CASE(a_path_is_compared_byte_by_byte) {
    for (const std::string path :
         {"", "/", "v1/imports", "/v1", "/v1/", "/v1/imports/", "/v1//imports", "//v1/imports",
          "/V1/imports", "/v1/Imports", "/v1/%69mports", "/v1/imports/x/y", "/v1/imports/x/rows/",
          "/v1/imports//rows", "/v1/imports/../imports", "/healthz/", "/healthz.json", "*"}) {
        BOOST_TEST(routed(Method::Get, path) == "404", path);
    }
    BOOST_TEST(routed(Method::Get, "/v1/imports/%2e%2e") == "getImport %2e%2e");
}

BOOST_AUTO_TEST_CASE(rows_are_well_formed_over_all_groups) {
    std::set<std::string_view> operations;
    std::set<std::string> places;
    for (std::size_t i = 0; i < all_endpoints().size(); ++i) {
        const auto& row = *all_endpoints()[i];
        BOOST_TEST(operations.insert(row.operation).second, row.operation);
        BOOST_TEST(places.insert(std::string(text_of(row.method)) + std::string(row.path)).second);
        BOOST_TEST(muster::api::match(row.method, row.path).index == i);
        BOOST_TEST(row.summary.find('.') == std::string_view::npos, row.operation);
        BOOST_TEST((row.body_schema == nullptr) == row.body_component.empty(), row.operation);
        if (row.body_limit == 0) BOOST_TEST(!row.body_required, row.operation);
        if (row.method == Method::Get) {
            BOOST_TEST(row.body_limit == 0U, row.operation);
            BOOST_TEST(row.idempotency == muster::api::IdempotencyKey::Ignored, row.operation);
        }
        for (const auto& parameter : row.query) {
            BOOST_TEST(!parameter.meaning.empty(), row.operation);
            if (parameter.kind != muster::api::QueryParameter::Kind::Integer) continue;
            BOOST_TEST(
                (parameter.least <= parameter.fallback && parameter.fallback <= parameter.most));
        }
    }
}

BOOST_AUTO_TEST_CASE(the_replies_that_show_secrets_are_those_of_issuing_and_rotating) {
    std::set<std::string_view> operations;
    for (const auto* row : all_endpoints()) {
        if (row->handler.shape.shows_secret) operations.insert(row->operation);
    }
    BOOST_TEST((operations == std::set<std::string_view>{"createApiKey", "createModuleCredential",
                                                         "createWebhookEndpoint", "rotateApiKey",
                                                         "rotateWebhookSecret"}));
}

BOOST_AUTO_TEST_CASE(the_routes_are_printed_one_per_line) {
    const std::string text = muster::api::routes_text();
    BOOST_TEST(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) ==
               all_endpoints().size());
    BOOST_TEST(text.find("POST /v1/imports/{id}/rows stageImportRows organization-or-admin "
                         "src/api/imports/rows.cpp:") != std::string::npos);
    BOOST_TEST(text.find("GET /healthz getHealth open src/api/operations/health.cpp:") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_location_of_a_row_is_the_line_of_its_operation) {
    for (const auto* row : all_endpoints()) {
        const muster::api::Operation& written = row->operation;
        BOOST_TEST(std::string_view(written.file).starts_with("src/api/"), row->operation);
        std::ifstream file(written.file);
        std::string line;
        for (int i = 0; i < written.line; ++i) std::getline(file, line);
        BOOST_TEST(line.find("\"" + std::string(row->operation) + "\"") != std::string::npos,
                   written.file << ":" << written.line << ": " << line);
    }
}

BOOST_AUTO_TEST_SUITE_END()
