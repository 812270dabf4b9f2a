// api/routes.hpp: which row a path finds, and what the rows together promise.
#include "api/routes.hpp"

#include "base/json.hpp"
#include "http/json_body.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using namespace muster;

BOOST_AUTO_TEST_SUITE(routes)

BOOST_AUTO_TEST_CASE(a_path_finds_its_row_and_parameters) {
    const auto found = api::match(http::Method::Get, "/v1/imports/abc/rows");
    BOOST_TEST_REQUIRE(found.endpoint);
    BOOST_TEST(found.endpoint->operation == "listImportRows");
    BOOST_TEST_REQUIRE(found.parameters.size() == 1);
    BOOST_TEST(found.parameters[0] == "abc");
    BOOST_TEST((api::all_endpoints()[found.index] == found.endpoint));
}

BOOST_AUTO_TEST_CASE(head_is_answered_where_get_is) {
    const auto found = api::match(http::Method::Head, "/v1/imports");
    BOOST_TEST_REQUIRE(found.endpoint);
    BOOST_TEST(found.endpoint->operation == "listImports");
}

BOOST_AUTO_TEST_CASE(another_method_is_told_what_the_path_takes) {
    const auto found = api::match(http::Method::Delete, "/v1/imports/abc/rows");
    BOOST_TEST(!found.endpoint);
    BOOST_TEST(found.path_known);
    BOOST_TEST(found.allow == "GET, HEAD, POST");
}

BOOST_AUTO_TEST_CASE(paths_that_are_no_rows_find_nothing) {
    for (const char* path :
         {"", "/", "/v1", "/v1/", "/v1/imports/", "//v1/imports", "/v1//imports", "/V1/imports",
          "/v1/imports//rows", "/v1/imports/abc/rows/", "/v1/imports/abc/def", "v1/imports"}) {
        const auto found = api::match(http::Method::Get, path);
        BOOST_TEST(!found.path_known, path);
        BOOST_TEST(found.allow == "", path);
    }
}

BOOST_AUTO_TEST_CASE(operations_are_told_apart_over_all_files) {
    std::set<std::string_view> operations;
    for (const auto* row : api::all_endpoints()) {
        BOOST_TEST(operations.insert(row->operation).second, row->operation);
    }
}

BOOST_AUTO_TEST_CASE(every_row_with_a_credential_can_say_that_it_is_missing) {
    for (const auto* row : api::all_endpoints()) {
        const bool says_so = std::find(row->errors.begin(), row->errors.end(),
                                       ErrorCode::Unauthorized) != row->errors.end();
        BOOST_TEST(says_so == (row->access == api::Access::Organization), row->operation);
    }
}

BOOST_AUTO_TEST_CASE(examples_of_bodies_are_strict_json) {
    for (const auto* row : api::all_endpoints()) {
        if (!row->body_schema) continue;
        BOOST_TEST(!row->body_example.empty(), row->operation);
        BOOST_CHECK_NO_THROW(http::JsonBody(row->body_example));
    }
}

BOOST_AUTO_TEST_CASE(the_description_names_every_row) {
    Json::Value document;
    BOOST_TEST_REQUIRE(parse_json(api::openapi_document("https://x.example"), document));
    BOOST_TEST(document["openapi"].asString() == "3.1.0");
    BOOST_TEST(document["info"]["version"].asString() == "0.1.0");
    BOOST_TEST(document["servers"][0]["url"].asString() == "https://x.example");
    for (const auto* row : api::all_endpoints()) {
        std::string method(text_of(row->method));
        for (char& c : method) c = static_cast<char>(c + 32);
        const auto& operation = document["paths"][std::string(row->path)][method];
        BOOST_TEST(operation["operationId"].asString() == row->operation);
        BOOST_TEST(operation["responses"].isMember(std::to_string(row->reply.status)));
    }
}

BOOST_AUTO_TEST_SUITE_END()
