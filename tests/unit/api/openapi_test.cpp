// api/openapi.cpp: the description matches the rows, its references resolve, and its examples match
// their schemas.
#include "api/groups.hpp"
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

    const Json::Value& operation(const api::Endpoint& row) const {
        std::string method(text_of(row.method));
        ascii_lower(method);
        return document["paths"][std::string(row.path)][method];
    }

    // The node, or the component that it refers to.
    const Json::Value& resolved(const Json::Value& node) const {
        return node.isMember("$ref") ? component(node["$ref"].asString()) : node;
    }
    const Json::Value& component(const std::string& reference) const {
        const auto parts = split(reference, '/');
        BOOST_TEST_REQUIRE(parts.size() == 4U, reference);
        const Json::Value& found =
            document["components"][std::string(parts[2])][std::string(parts[3])];
        BOOST_TEST(!found.isNull(), reference);
        return found;
    }

    // "schemas/User" for everything under /components, except the security schemes.
    static std::set<std::string> components_of(const Json::Value& from) {
        std::set<std::string> names;
        for (const std::string& kind : from["components"].getMemberNames()) {
            if (kind == "securitySchemes") continue;
            for (const std::string& name : from["components"][kind].getMemberNames()) {
                names.insert(kind + "/" + name);
            }
        }
        return names;
    }
    std::set<std::string> references_of(const Json::Value& from) const {
        std::set<std::string> names;
        each(from, "$ref", [&](const Json::Value& object) {
            names.insert(object["$ref"].asString().substr(std::string("#/components/").size()));
        });
        return names;
    }

    // Calls `visit(name, object)` for each object in the document that has this member.
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

BOOST_AUTO_TEST_CASE(the_head_matches_the_specification) {
    BOOST_TEST(document["openapi"].asString() == "3.1.0");
    BOOST_TEST(document["info"]["version"].asString() == "0.1.0");
    BOOST_TEST(!document["info"]["title"].asString().empty());
    BOOST_TEST(document["servers"][0]["url"].asString() == "https://api.example.test");
    BOOST_TEST(document["components"]["securitySchemes"]["organizationKey"]["scheme"].asString() ==
               "bearer");
}

BOOST_AUTO_TEST_CASE(exactly_the_rows_are_described) {
    std::size_t operations = 0;
    for (const Json::Value& path : document["paths"]) operations += path.size();
    BOOST_TEST(operations == api::all_endpoints().size());
    for (const api::Endpoint* row : api::all_endpoints()) {
        const Json::Value& described = operation(*row);
        BOOST_TEST(described["operationId"].asString() == row->operation);
        BOOST_TEST(described["summary"].asString() == row->summary);
        BOOST_TEST(described["description"].asString() == row->description);
        BOOST_TEST_REQUIRE(described["security"].isArray(), row->operation);
        BOOST_TEST(described["security"].empty() == (row->access == api::Access::Open),
                   row->operation);
        BOOST_TEST(described["requestBody"]["required"].asBool() ==
                   (row->body_schema && row->body_required));
        const Json::Value& responses = described["responses"];
        BOOST_TEST(responses.isMember(std::to_string(row->reply.status)), row->operation);
        if (row->second_reply)
            BOOST_TEST(responses.isMember(std::to_string(row->second_reply->status)));
        BOOST_TEST(responses.isMember("default"), row->operation);
        const std::string shared = resolved(responses["default"])["description"].asString();
        for (const char* code : {"BAD_REQUEST", "PAYLOAD_TOO_LARGE", "QUOTA_EXCEEDED",
                                 "RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"}) {
            BOOST_TEST(shared.find("`" + std::string(code) + "`: ") != std::string::npos, code);
        }
        for (const ErrorCode code : row->errors) {
            const auto& entry = error_entry(code);
            const std::string text =
                resolved(responses[std::to_string(entry.status)])["description"].asString();
            BOOST_TEST(text.find("`" + std::string(entry.text) + "`") != std::string::npos,
                       row->operation);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_partner_description_contains_the_published_rows) {
    std::size_t operations = 0;
    for (const Json::Value& path : published["paths"]) operations += path.size();
    std::size_t expected = 0;
    for (const api::Endpoint* row : api::all_endpoints()) {
        std::string method(text_of(row->method));
        ascii_lower(method);
        const Json::Value& described = published["paths"][std::string(row->path)][method];
        BOOST_TEST(described == (row->is_published ? operation(*row) : Json::Value()),
                   row->operation);
        if (row->is_published) ++expected;
        const bool is_others =
            row->path.starts_with("/console/") || row->access == api::Access::ContentKey;
        BOOST_TEST(row->is_published != is_others, row->operation);
    }
    BOOST_TEST(operations == expected);
    BOOST_TEST(references_of(published) == components_of(published));
}

BOOST_AUTO_TEST_CASE(parameters_match_the_row) {
    for (const api::Endpoint* row : api::all_endpoints()) {
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
        if (row->access == api::Access::Console) {
            expected.insert({"header Origin", "header Sec-Fetch-Site"});
        }
        if (row->takes_if_match) expected.insert("header If-Match");
        if (row->takes_if_match && row->method == http::Method::Put)
            expected.insert("header If-None-Match");
        if (row->takes_console_header) expected.insert("header X-Muster-Console");
        if (row->accepts_gzip) expected.insert("header Content-Encoding");
        if (row->second_reply && row->second_reply->status == 304)
            expected.insert("header If-None-Match");
        if (row->access != api::Access::Open && !api::is_publishable(row->access)) {
            expected.insert("header X-Expect-Organization");
            if (row->access != api::Access::Module) expected.insert("header X-Organization");
        }
        std::set<std::string> described;
        for (const Json::Value& entry : operation(*row)["parameters"]) {
            const Json::Value& parameter = resolved(entry);
            BOOST_TEST(!parameter["description"].asString().empty(), row->operation);
            described.insert(parameter["in"].asString() + " " + parameter["name"].asString());
            const bool is_key = parameter["name"].asString() == "Idempotency-Key";
            const bool is_expectation = parameter["name"].asString() == "X-Expect-Organization";
            const bool is_origin = parameter["name"].asString() == "Origin";
            const bool is_required = parameter["in"].asString() == "path" ||
                                     (row->access == api::Access::Module && !is_expectation) ||
                                     (is_origin && row->method != http::Method::Get);
            BOOST_TEST(parameter["required"].asBool() == is_required, row->operation);
            BOOST_TEST(
                (!is_key || !is_required || row->idempotency == api::IdempotencyKey::Required));
        }
        BOOST_TEST(described == expected, row->operation);
    }
}

BOOST_AUTO_TEST_CASE(an_idempotency_key_has_a_length) {
    const Json::Value& schema = component("#/components/parameters/Idempotency-Key")["schema"];
    BOOST_TEST(schema["minLength"].asInt() == 1);
    BOOST_TEST(schema["maxLength"].asInt() == 255);
}

BOOST_AUTO_TEST_CASE(an_address_in_a_query_and_in_a_body_is_not_empty) {
    const Json::Value& query = component("#/components/parameters/email")["schema"];
    BOOST_TEST(query["minLength"].asInt() == 1);
    const Json::Value& payload = component("#/components/schemas/MemberPayload")["properties"];
    BOOST_TEST(payload["email"]["minLength"].asInt() == 1);
}

BOOST_AUTO_TEST_CASE(the_tracking_key_may_be_in_the_query_or_in_a_text_body) {
    const Json::Value& track = document["paths"]["/v1/track"]["post"];
    BOOST_TEST(json_text(track["security"]) == R"([{"trackingKey":[]},{}])");
    const Json::Value& text = track["requestBody"]["content"]["text/plain"]["schema"];
    BOOST_TEST(text["type"].asString() == "string");
    BOOST_TEST(text["contentMediaType"].asString() == "application/json");
    const Json::Value& serve = document["paths"]["/v1/ads/serve"]["get"];
    BOOST_TEST(json_text(serve["security"]) == R"([{"trackingKey":[]}])");
}

BOOST_AUTO_TEST_CASE(every_reference_resolves_and_every_component_is_used) {
    for (const std::string& name : references_of(document)) {
        (void)component("#/components/" + name);
    }
    BOOST_TEST(references_of(document) == components_of(document));
}

BOOST_AUTO_TEST_CASE(every_operation_has_one_of_the_tags) {
    std::set<std::string> tags;
    for (const Json::Value& tag : document["tags"]) {
        BOOST_TEST(!tag["description"].asString().empty());
        tags.insert(tag["name"].asString());
    }
    std::set<std::string> used;
    for (const api::Endpoint* row : api::all_endpoints()) {
        const Json::Value& own = operation(*row)["tags"];
        BOOST_TEST_REQUIRE(own.size() == 1U, row->operation);
        used.insert(own[0].asString());
    }
    BOOST_TEST(used == tags);
}

BOOST_AUTO_TEST_CASE(descriptions_are_two_to_five_sentences) {
    for (const api::Endpoint* row : api::all_endpoints()) {
        const std::string text(row->description);
        BOOST_TEST(text.back() == '.', row->operation);
        std::size_t sentences = 1;
        for (std::size_t at = 0; (at = text.find(". ", at)) != std::string::npos; ++at) ++sentences;
        BOOST_TEST((sentences >= 2 && sentences <= 5), row->operation);
    }
}

BOOST_AUTO_TEST_CASE(every_property_at_any_depth_is_described) {
    std::size_t properties = 0;
    each(document, "properties", [&](const Json::Value& schema) {
        for (const std::string& name : schema["properties"].getMemberNames()) {
            ++properties;
            BOOST_TEST(!schema["properties"][name]["description"].asString().empty(), name);
        }
    });
    BOOST_TEST(properties > 400U);
}

BOOST_AUTO_TEST_CASE(objects_with_unknown_keys_describe_their_values) {
    each(document, "type", [&](const Json::Value& schema) {
        if (schema["type"] != "object") return;
        BOOST_TEST((schema.isMember("properties") || schema.isMember("additionalProperties")),
                   json_text(schema));
    });
}

BOOST_AUTO_TEST_CASE(replies_allow_more_fields_and_requests_reject_them) {
    const Json::Value& schemas = document["components"]["schemas"];
    for (const char* reply : {"User", "UserList", "ImportJob", "Session", "ApiError"}) {
        BOOST_TEST(!schemas[reply].isMember("additionalProperties"), reply);
    }
    // Specification 2.11 allows no further fields in a connection.
    BOOST_TEST(schemas["Connection"]["additionalProperties"] == Json::Value(false));
    BOOST_TEST(schemas["Connection"]["required"].size() == 5U);
    for (const api::Endpoint* row : api::all_endpoints()) {
        if (!row->body_schema) continue;
        const Json::Value& schema = schemas[std::string(row->body_component)];
        if (schema.isMember("anyOf")) continue;  // each of them rejects unknown keys
        BOOST_TEST(schema["additionalProperties"] == Json::Value(false), row->operation);
    }
}

BOOST_AUTO_TEST_CASE(value_lists_are_enums) {
    const Json::Value& schemas = document["components"]["schemas"];
    const auto enum_of = [&](const char* schema, const char* property) {
        const Json::Value& type = schemas[schema]["properties"][property];
        const Json::Value& texts = type.isMember("anyOf") ? type["anyOf"][0]["enum"] : type["enum"];
        std::vector<std::string> all;
        for (const Json::Value& text : texts) all.push_back(text.asString());
        return all;
    };
    using Texts = std::vector<std::string>;
    BOOST_TEST(enum_of("User", "status") == (Texts{"active", "locked"}));
    BOOST_TEST(enum_of("CreatedUser", "outcome") == (Texts{"created", "attached", "merged"}));
    BOOST_TEST(enum_of("WebhookEndpoint", "disabled_reason") == (Texts{"gone", "failing"}));
    BOOST_TEST(enum_of("ImportRow", "error_code").size() == 8U);
    BOOST_TEST(enum_of("Connection", "connector").size() == 15U);
    BOOST_TEST(enum_of("FieldFault", "code").size() == 17U);
    for (const auto& [schema, property] :
         std::vector<std::pair<const char*, const char*>>{{"ImportJob", "state"},
                                                          {"ImportJob", "source"},
                                                          {"ImportRow", "state"},
                                                          {"Attribute", "type"},
                                                          {"UserAttribute", "type"},
                                                          {"UserAttribute", "provenance"},
                                                          {"Module", "kind"},
                                                          {"Module", "status"},
                                                          {"ModuleVersion", "status"},
                                                          {"Installation", "status"},
                                                          {"WebhookEndpoint", "status"},
                                                          {"WebhookDelivery", "status"},
                                                          {"AuditEntry", "actor"},
                                                          {"Seat", "role"},
                                                          {"AdCampaign", "status"},
                                                          {"AdCreative", "kind"},
                                                          {"Article", "status"},
                                                          {"Connection", "authStatus"},
                                                          {"ConnectRequest", "provider"}}) {
        BOOST_TEST(enum_of(schema, property).size() > 1U, schema);
    }
}

BOOST_AUTO_TEST_CASE(every_required_property_is_defined) {
    each(document, "required", [&](const Json::Value& object) {
        if (!object["required"].isArray()) return;
        for (const Json::Value& name : object["required"]) {
            BOOST_TEST(object["properties"].isMember(name.asString()), name.asString());
        }
    });
}

BOOST_AUTO_TEST_CASE(every_example_matches_its_schema) {
    const test::SchemaCheck check(document);
    int examples = 0;
    const auto verify = [&](const Json::Value& schema, const Json::Value& example) {
        ++examples;
        BOOST_TEST(check.allows(schema, example), json_text(example));
    };
    each(document, "schema", [&](const Json::Value& content) {
        if (content.isMember("example")) verify(content["schema"], content["example"]);
        for (const Json::Value& example : content["examples"]) {
            verify(content["schema"], resolved(example)["value"]);
        }
    });
    each(document, "examples", [&](const Json::Value& schema) {
        if (!schema["examples"].isArray()) return;
        for (const Json::Value& example : schema["examples"]) verify(schema, example);
    });
    BOOST_TEST(examples > 200);
}

BOOST_AUTO_TEST_CASE(the_error_schema_lists_every_code) {
    const Json::Value& codes = document["components"]["schemas"]["ApiError"]["properties"]["error"]
                                       ["properties"]["code"]["enum"];
    std::set<std::string> texts;
    for (const Json::Value& code : codes) texts.insert(code.asString());
#define ERROR(name, code, status, message, advice) BOOST_TEST(texts.contains(code), code);
#include "base/error_codes.def"
#undef ERROR
}

BOOST_AUTO_TEST_SUITE_END()
