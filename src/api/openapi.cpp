// Serves /openapi/partner.json: the OpenAPI 3.1 document, built from the endpoint rows
// (docs/api/README.md "Service").
#include "api/openapi_operation.hpp"
#include "api/routes.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "http/etag.hpp"

namespace muster::api {
namespace {

using http::Method;
using http::Reply;

// Counted over all rows, so that both documents share the same components.
openapi::Shared shared_values() {
    openapi::Shared shared;
    for (const Endpoint* row : all_endpoints()) add_to(shared, *row);
    return shared;
}

Json::Value info() {
    Json::Value info;
    info["title"] = "Muster partner API";
    info["version"] = "0.1.0";
    info["description"] =
        "The membership API of Muster. docs/api/README.md of the installation explains its conventions: "
        "errors, rate limits, idempotency and paging. Replies may contain more fields in later "
        "versions; clients must ignore unknown fields. Requests reject unknown fields.";
    info["license"]["name"] = "Apache-2.0";
    info["license"]["identifier"] = "Apache-2.0";
    return info;
}

Json::Value tags() {
    Json::Value all;
    for (const Tag& tag : all_tags()) {
        Json::Value& value = all.append(Json::objectValue);
        value["name"] = std::string(tag.name);
        value["description"] = std::string(tag.description);
    }
    return all;
}

Json::Value paths(Described described, const openapi::Shared& shared) {
    Json::Value all;
    for (const Group& group : all_groups()) {
        for (const Endpoint& row : group.endpoints()) {
            if (described != Described::All && !row.is_published) continue;
            std::string method(text_of(row.method));
            ascii_lower(method);
            all[std::string(row.path)][method] = operation_of(row, group.tag, shared);
        }
    }
    return all;
}

Json::Value build_document(std::string_view base_url, Described described) {
    const openapi::Shared shared = shared_values();
    Json::Value document;
    document["openapi"] = "3.1.0";
    document["info"] = info();
    document["servers"][0]["url"] = std::string(base_url);
    document["tags"] = tags();
    document["paths"] = paths(described, shared);
    Json::Value& components = document["components"];
    components["headers"] = openapi::headers();
    components["parameters"] = shared.parameters.components();
    components["responses"] = shared.responses.components();
    components["examples"] = openapi::error_examples();
    components["securitySchemes"] = openapi::security_schemes();
    Json::Value schemas;
    Json::Value error = openapi::error_schema();
    openapi::hoist(error, schemas);
    openapi::hoist(document["paths"], schemas);
    components["schemas"] = std::move(schemas);
    openapi::drop_unused_components(document);
    return document;
}

struct Description {
    std::string base_url;
    std::string document;
    std::string etag;
};

Description& prepared() {
    static Description description;
    return description;
}

Reply get_openapi(Call& call) {
    prepare_description(call.context.settings.server.base_url);
    const auto& [base_url, document, etag] = prepared();
    const bool is_known = http::if_none_match_matches(call.request.if_none_match, etag);
    Reply reply = json_reply(is_known ? 304 : 200, is_known ? "" : document);
    reply.headers.emplace_back("ETag", etag);
    reply.headers.emplace_back("Cache-Control", "public, max-age=300");
    return reply;
}

Json::Value any_object() {
    return map_of(any_json());
}

constexpr std::array kOpenApiEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/openapi/partner.json",
        .operation = "getDescription",
        .summary = "Get this OpenAPI document",
        .description =
            "Returns this OpenAPI document of the operations for partners. It may be cached for "
            "five minutes; send its ETag as If-None-Match to avoid the transfer. `musterd "
            "--openapi` prints the same, except servers.",
        .access = Access::Open,
        .reply = with_tag({200, "The document, OpenAPI 3.1.0."}),
        .second_reply = kNotModified,
        .handler = {get_openapi, {"application/json", "OpenApi", any_object}},
        .is_static = true},
};
static_assert(well_formed(kOpenApiEndpoints, "/openapi"));

}  // namespace

std::span<const Endpoint> openapi_endpoints() {
    return kOpenApiEndpoints;
}

std::string openapi_document(std::string_view base_url, Described described) {
    return json_text_pretty(build_document(base_url, described));
}

void prepare_description(const std::string& base_url) {
    Description& description = prepared();
    if (!description.document.empty() && description.base_url == base_url) return;
    description.base_url = base_url;
    description.document = openapi_document(base_url, Described::Published);
    description.etag = http::etag_of(description.document);
}

}  // namespace muster::api
