// api/openapi.cpp: the description says what the rows say, refers to nothing that is not there, and
// its examples are allowed by its schemas.
#include "api/routes.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "unit/json/json_schema.hpp"

#include "print.hpp"

#include <set>
#include <string>
#include <vector>

using namespace muster;

namespace {

struct Description {
    Description() {
        BOOST_TEST_REQUIRE(parse_json(
            api::openapi_document("https://api.example.test", api::Described::All), document));
        BOOST_TEST_REQUIRE(
            parse_json(api::openapi_document("https://api.example.test", api::Described::Published),
                       published));
    }

    static std::vector<const api::Endpoint*> rows() {
        auto rows = api::all_endpoints();
        std::erase_if(rows, [](const api::Endpoint* row) { return row->is_internal; });
        return rows;
    }

    const Json::Value& operation(const api::Endpoint& row) const {
        std::string method(text_of(row.method));
        ascii_lower(method);
        return document["paths"][std::string(row.path)][method];
    }

    // Calls `visit(name, object)` for each object in the document that has such a member.
    template <class Visit>
    void each(const Json::Value& from, const std::string& member, const Visit& visit) const {
        if (from.isObject() && from.isMember(member)) visit(from);
        if (!from.isObject() && !from.isArray()) return;
        for (const Json::Value& inner : from) each(inner, member, visit);
    }

    Json::Value document;   // of all rows
    Json::Value published;  // the partners'
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(openapi, Description)

BOOST_AUTO_TEST_CASE(the_head_is_the_specification_s) {
    BOOST_TEST(document["openapi"].asString() == "3.1.0");
    BOOST_TEST(document["info"]["version"].asString() == "0.1.0");
    BOOST_TEST(!document["info"]["title"].asString().empty());
    BOOST_TEST(document["servers"][0]["url"].asString() == "https://api.example.test");
    BOOST_TEST(document["components"]["securitySchemes"]["organizationKey"]["scheme"].asString() ==
               "bearer");
}

BOOST_AUTO_TEST_CASE(every_row_is_described_and_nothing_else) {
    std::size_t operations = 0;
    for (const Json::Value& path : document["paths"]) operations += path.size();
    BOOST_TEST(operations == rows().size());
    for (const api::Endpoint* row : rows()) {
        const Json::Value& described = operation(*row);
        BOOST_TEST(described["operationId"].asString() == row->operation);
        BOOST_TEST(described["summary"].asString() == row->summary);
        BOOST_TEST(described.isMember("security") == (row->access != api::Access::Open),
                   row->operation);
        BOOST_TEST(described["requestBody"]["required"].asBool() ==
                   (row->body_schema && row->body_required));
        const Json::Value& responses = described["responses"];
        BOOST_TEST(responses.isMember(std::to_string(row->reply.status)), row->operation);
        if (row->second_reply)
            BOOST_TEST(responses.isMember(std::to_string(row->second_reply->status)));
        BOOST_TEST(responses.isMember("default"), row->operation);
        for (const ErrorCode code : row->errors) {
            const auto& entry = error_entry(code);
            const std::string text =
                responses[std::to_string(entry.status)]["description"].asString();
            BOOST_TEST(text.find("`" + std::string(entry.text) + "`") != std::string::npos,
                       row->operation);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_partners_description_is_that_of_the_published_rows) {
    std::size_t operations = 0;
    for (const Json::Value& path : published["paths"]) operations += path.size();
    std::size_t expected = 0;
    for (const api::Endpoint* row : rows()) {
        std::string method(text_of(row->method));
        ascii_lower(method);
        const Json::Value& described = published["paths"][std::string(row->path)][method];
        BOOST_TEST(described == (row->is_published ? operation(*row) : Json::Value()),
                   row->operation);
        if (row->is_published) ++expected;
        const bool is_others =
            row->path.starts_with("/console/") || row->access == api::Access::ContentKey;
        BOOST_TEST(row->is_published != (is_others || row->is_internal), row->operation);
    }
    BOOST_TEST(operations == expected);
    std::set<std::string> used = {"Error"};
    each(published, "$ref", [&](const Json::Value& object) {
        const std::string reference = object["$ref"].asString();
        used.insert(reference.substr(reference.rfind('/') + 1));
    });
    for (const std::string& name : published["components"]["schemas"].getMemberNames()) {
        BOOST_TEST(used.contains(name), name);
    }
}

BOOST_AUTO_TEST_CASE(parameters_are_the_row_s) {
    for (const api::Endpoint* row : rows()) {
        std::set<std::string> expected;
        for (const std::string_view segment : split(row->path, '/')) {
            if (segment.starts_with('{'))
                expected.insert("path " + std::string(segment.substr(1, segment.size() - 2)));
        }
        for (const auto& parameter : row->query)
            expected.insert("query " + std::string(parameter.name));
        if (row->idempotency != api::IdempotencyKey::Ignored)
            expected.insert("header Idempotency-Key");
        if (row->access == api::Access::Module) expected.insert("header x-svc-signature");
        if (row->access == api::Access::Console) expected.insert("header Origin");
        if (row->takes_if_match) expected.insert("header If-Match");
        std::set<std::string> described;
        for (const Json::Value& parameter : operation(*row)["parameters"]) {
            described.insert(parameter["in"].asString() + " " + parameter["name"].asString());
            const bool is_key = parameter["name"].asString() == "Idempotency-Key";
            const bool is_required =
                parameter["in"].asString() == "path" || row->access == api::Access::Module;
            BOOST_TEST(parameter["required"].asBool() == is_required, row->operation);
            BOOST_TEST(
                (!is_key || !is_required || row->idempotency == api::IdempotencyKey::Required));
        }
        BOOST_TEST(described == expected, row->operation);
    }
}

BOOST_AUTO_TEST_CASE(every_reference_leads_somewhere_and_every_component_is_used) {
    const test::SchemaCheck check(document);
    std::set<std::string> used;
    each(document, "$ref", [&](const Json::Value& object) {
        const std::string reference = object["$ref"].asString();
        BOOST_CHECK_NO_THROW((void)check.referred(reference));
        used.insert(reference.substr(reference.rfind('/') + 1));
    });
    for (const std::string& name : document["components"]["schemas"].getMemberNames()) {
        BOOST_TEST(used.contains(name), name);
    }
}

BOOST_AUTO_TEST_CASE(every_required_property_is_a_property) {
    each(document, "required", [&](const Json::Value& object) {
        if (!object["required"].isArray()) return;
        for (const Json::Value& name : object["required"]) {
            BOOST_TEST(object["properties"].isMember(name.asString()), name.asString());
        }
    });
}

BOOST_AUTO_TEST_CASE(every_example_is_allowed_by_its_schema) {
    const test::SchemaCheck check(document);
    int examples = 0;
    each(document["paths"], "schema", [&](const Json::Value& content) {
        if (content.isMember("example")) {
            ++examples;
            BOOST_TEST(check.allows(content["schema"], content["example"]),
                       json_text(content["example"]));
        }
        for (const Json::Value& example : content["examples"]) {
            ++examples;
            BOOST_TEST(check.allows(content["schema"], example["value"]), json_text(example));
        }
    });
    BOOST_TEST(examples > 20);
}

BOOST_AUTO_TEST_CASE(the_error_schema_knows_every_code) {
    const Json::Value& codes = document["components"]["schemas"]["Error"]["properties"]["error"]
                                       ["properties"]["code"]["enum"];
    std::set<std::string> texts;
    for (const Json::Value& code : codes) texts.insert(code.asString());
#define ERROR(name, code, status, message, advice) BOOST_TEST(texts.contains(code), code);
#include "base/error_codes.def"
#undef ERROR
}

BOOST_AUTO_TEST_SUITE_END()
