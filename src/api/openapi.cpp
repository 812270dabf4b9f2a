// Serves /openapi/partner.json: the OpenAPI 3.1 description, printed from the endpoint rows
// (specification 4.6, 9).
#include "api/groups.hpp"
#include "api/routes.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "http/etag.hpp"
#include "rules/members/payload.hpp"

#include <map>
#include <set>

namespace muster::api {
namespace {

using http::Method;
using http::Reply;

Json::Value reference(std::string_view component) {
    Json::Value schema;
    schema["$ref"] = "#/components/schemas/" + std::string(component);
    return schema;
}

Json::Value error_schema() {
    Json::Value codes(Json::arrayValue);
#define ERROR(name, code, status, message, advice) codes.append(code);
#include "base/error_codes.def"
#undef ERROR
    Json::Value schema;
    schema["type"] = "object";
    schema["additionalProperties"] = false;
    schema["required"].append("error");
    Json::Value& error = schema["properties"]["error"];
    error["type"] = "object";
    error["additionalProperties"] = false;
    for (const char* key : {"code", "status", "message"}) error["required"].append(key);
    error["properties"]["code"]["type"] = "string";
    error["properties"]["code"]["enum"] = codes;
    error["properties"]["status"]["type"] = "integer";
    error["properties"]["message"]["type"] = "string";
    error["properties"]["details"]["type"] = "object";
    return schema;
}

Json::Value json_content(Json::Value schema) {
    Json::Value content;
    content["application/json"]["schema"] = std::move(schema);
    return content;
}

// Texts whose shape the schema does not tell.
std::string example_text(std::string_view name) {
    static const std::map<std::string_view, std::string_view> kTexts = {
        {"email", "ada@example.org"},
        {"external_id", "C-1001"},
        {"first_name", "Ada"},
        {"last_name", "Lovelace"},
        {"display_name", "Ada L."},
        {"locale", "en-GB"},
        {"country", "GB"},
        {"dob", "1985-12-10"},
        {"status", "active"},
        {"roles", "member"},
        {"file_name", "members.csv"},
        {"sourceColumn", "Email"},
        {"target", "core_field"},
        {"fieldKey", "email"},
        {"attributeKey", "shirt_size"},
        {"key", "shirt_size"},
        {"label", "Shirt size"},
        {"choices", "M"},
        {"next_cursor", "b3BhcXVl"},
    };
    const auto found = kTexts.find(name);
    return std::string(found == kTexts.end() ? "text" : found->second);
}

// A value of the schema's shape, for the property `name`: what it looks like, not what it says.
Json::Value example_of(const Json::Value& schema, std::string_view name) {
    const Json::Value& type = schema["type"].isArray() ? schema["type"][0] : schema["type"];
    const std::string format = schema["format"].asString();
    if (schema.isMember("anyOf")) return example_of(schema["anyOf"][0], name);
    if (schema.isMember("enum")) return schema["enum"][0];
    if (format == "uuid") return "019a9f3c-7b1e-7c44-9d5a-3f1f0a2b6c8d";
    if (format == "date-time") return "2026-11-20T10:00:00.000Z";
    if (type == "integer") return 1;
    if (type == "boolean") return true;
    if (type == "string") return example_text(name);
    if (type == "array") {
        Json::Value list(Json::arrayValue);
        list.append(example_of(schema["items"], name));
        return list;
    }
    Json::Value object(Json::objectValue);
    for (const std::string& key : schema["properties"].getMemberNames()) {
        object[key] = example_of(schema["properties"][key], key);
    }
    return object;
}

Json::Value error_example(const ErrorEntry& entry) {
    Json::Value example;
    example["error"]["code"] = std::string(entry.text);
    example["error"]["status"] = entry.status;
    example["error"]["message"] = std::string(entry.message);
    return example;
}

// A status's codes are told apart in its description; the envelope is the same for all.
Json::Value error_response(const std::vector<ErrorCode>& codes) {
    Json::Value response;
    std::string text;
    for (const ErrorCode code : codes) {
        const ErrorEntry& entry = error_entry(code);
        if (!text.empty()) text += " ";
        text += "`" + std::string(entry.text) + "`: " + std::string(entry.message) + " " +
                std::string(entry.advice);
    }
    response["description"] = text;
    response["content"] = json_content(reference("Error"));
    for (const ErrorCode code : codes) {
        const ErrorEntry& entry = error_entry(code);
        response["content"]["application/json"]["examples"][std::string(entry.text)]["value"] =
            error_example(entry);
    }
    return response;
}

Json::Value reply_response(const ReplySpec& reply, const ReplyShape& shape) {
    Json::Value response;
    response["description"] = std::string(reply.meaning);
    if (reply.has_etag) {
        response["headers"]["ETag"]["description"] = "The strong tag of this representation.";
        response["headers"]["ETag"]["schema"]["type"] = "string";
    }
    if (!has_body(reply.status)) return response;
    Json::Value& content = response["content"][std::string(shape.content_type)];
    if (shape.component.empty()) {
        content["schema"]["type"] = "string";
    } else {
        content["schema"] = reference(shape.component);
        content["example"] = example_of(shape.schema(), "");
    }
    return response;
}

Json::Value path_parameters(std::string_view path) {
    Json::Value list(Json::arrayValue);
    for (const std::string_view segment : split(path, '/')) {
        if (!segment.starts_with('{')) continue;
        Json::Value parameter;
        parameter["name"] = std::string(segment.substr(1, segment.size() - 2));
        parameter["in"] = "path";
        parameter["required"] = true;
        parameter["schema"]["type"] = "string";
        if (is_id_parameter(segment)) parameter["schema"]["format"] = "uuid";
        list.append(std::move(parameter));
    }
    return list;
}

Json::Value query_schema(const QueryParameter& query) {
    Json::Value schema;
    switch (query.kind) {
        case QueryParameter::Kind::Integer:
            schema["type"] = "integer";
            schema["minimum"] = query.least;
            schema["maximum"] = query.most;
            schema["default"] = query.fallback;
            break;
        case QueryParameter::Kind::Flag:
            schema["type"] = "boolean";
            schema["default"] = false;
            break;
        case QueryParameter::Kind::Timestamp:
        case QueryParameter::Kind::Email:
            schema["type"] = "string";
            schema["format"] = query.kind == QueryParameter::Kind::Email ? "email" : "date-time";
            break;
        case QueryParameter::Kind::Cursor:
        case QueryParameter::Kind::Text:
            schema["type"] = "string";
            if (query.least > 0) schema["minLength"] = query.least;
            break;
    }
    if (query.choice) {
        for (std::size_t i = 0; !query.choice(i).empty(); ++i) {
            schema["enum"].append(std::string(query.choice(i)));
        }
    }
    return schema;
}

Json::Value header_parameter(const char* name, const char* description) {
    Json::Value parameter;
    parameter["name"] = name;
    parameter["in"] = "header";
    parameter["description"] = description;
    parameter["schema"]["type"] = "string";
    return parameter;
}

void add_parameters(const Endpoint& row, Json::Value& operation) {
    Json::Value parameters = path_parameters(row.path);
    for (const QueryParameter& query : row.query) {
        Json::Value parameter;
        parameter["name"] = std::string(query.name);
        parameter["in"] = "query";
        parameter["description"] = std::string(query.meaning);
        parameter["schema"] = query_schema(query);
        parameters.append(std::move(parameter));
    }
    if (row.idempotency != IdempotencyKey::Ignored) {
        Json::Value parameter = header_parameter(
            "Idempotency-Key",
            "1 to 255 visible ASCII characters; a repetition replays the first reply.");
        parameter["schema"]["maxLength"] = 255;
        if (row.idempotency == IdempotencyKey::Required) parameter["required"] = true;
        parameters.append(std::move(parameter));
    }
    if (row.access == Access::Module) {
        Json::Value parameter = header_parameter(
            "x-svc-signature",
            "t=<unix seconds>,v1=<hex HMAC-SHA256 under the signing secret of \"{t}.{Idempotency-Key}."
            "{body}\">; t at most 300 seconds away, several v1 where one of them may match.");
        parameter["required"] = true;
        parameters.append(std::move(parameter));
    }
    if (row.access == Access::Console) {
        parameters.append(header_parameter(
            "Origin",
            "The console's, as its pages send it by themselves; where there is none, a Referer counts."));
    }
    if (row.takes_if_match) {
        parameters.append(header_parameter(
            "If-Match", "ETags that the record may have for the change to happen, or *."));
    }
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
}

void add_responses(const Endpoint& row, Json::Value& operation) {
    Json::Value& responses = operation["responses"];
    responses[std::to_string(row.reply.status)] = reply_response(row.reply, row.handler.shape);
    if (row.second_reply) {
        responses[std::to_string(row.second_reply->status)] =
            reply_response(*row.second_reply, row.handler.shape);
    }
    std::map<int, std::vector<ErrorCode>> by_status;
    for (const ErrorCode code : errors_of(row)) by_status[error_entry(code).status].push_back(code);
    for (const auto& [status, codes] : by_status) {
        responses[std::to_string(status)] = error_response(codes);
    }
    // What any operation can answer: overload, and our own faults.
    responses["default"] = error_response(
        {ErrorCode::RateLimited, ErrorCode::InternalError, ErrorCode::ServiceUnavailable});
}

bool takes_session(Access access) {
    return access != Access::Open && access != Access::Module && !is_publishable(access);
}

void add_security(const Endpoint& row, Json::Value& operation) {
    const auto add = [&](const char* scheme) {
        Json::Value security;
        security[scheme] = Json::Value(Json::arrayValue);
        operation["security"].append(std::move(security));
    };
    if (row.access == Access::OrganizationOrAdmin) add("organizationKey");
    if (row.access == Access::Module) add("moduleCredential");
    if (row.access == Access::TrackingKey) add("trackingKey");
    if (row.access == Access::ContentKey) add("contentKey");
    if (takes_session(row.access)) add("adminSession");
}

Json::Value operation_of(const Endpoint& row) {
    Json::Value operation;
    operation["operationId"] = std::string(row.operation);
    operation["summary"] = std::string(row.summary);
    add_parameters(row, operation);
    if (row.body_schema) {
        operation["requestBody"]["required"] = row.body_required;
        operation["requestBody"]["content"] = json_content(reference(row.body_component));
        Json::Value example;
        if (parse_json(row.body_example, example)) {
            operation["requestBody"]["content"]["application/json"]["example"] = std::move(example);
        }
    }
    add_responses(row, operation);
    add_security(row, operation);
    return operation;
}

Json::Value bearer(const char* description) {
    Json::Value scheme;
    scheme["type"] = "http";
    scheme["scheme"] = "bearer";
    scheme["description"] = description;
    return scheme;
}

Json::Value key_in_query(const char* description) {
    Json::Value scheme;
    scheme["type"] = "apiKey";
    scheme["in"] = "query";
    scheme["name"] = "key";
    scheme["description"] = description;
    return scheme;
}

Json::Value build_document(std::string_view base_url, Described described) {
    Json::Value document;
    document["openapi"] = "3.1.0";
    document["info"]["title"] = "Muster partner API";
    document["info"]["version"] = "0.1.0";  // specification 9
    document["info"]["license"]["name"] = "Apache-2.0";
    document["servers"][0]["url"] = std::string(base_url);
    Json::Value& components = document["components"];
    components["securitySchemes"]["organizationKey"] = bearer("An organization API key, org_….");
    components["securitySchemes"]["moduleCredential"] =
        bearer("A module's credential, mk_live_…, on a signed request.");
    components["securitySchemes"]["trackingKey"] = key_in_query(
        "A tracking key, ek_live_…; the request comes from an origin on the key's list.");
    if (described == Described::All) {
        components["securitySchemes"]["contentKey"] = key_in_query(
            "A content key, ck_live_…; the request comes from an origin on the key's list.");
    }
    components["securitySchemes"]["adminSession"] = bearer(
        "The token of an admin's sign-in. Everything but the session itself and its second "
        "factor wants the second factor passed.");
    Json::Value& schemas = components["schemas"];
    schemas["Error"] = error_schema();
    schemas["MemberPayload"] = rules::member_payload_schema();
    for (const Endpoint* row : all_endpoints()) {
        const bool is_published = described == Described::All || row->is_published;
        if (row->is_internal || !is_published) continue;
        std::string method(text_of(row->method));
        ascii_lower(method);
        document["paths"][std::string(row->path)][method] = operation_of(*row);
        if (row->body_schema) schemas[std::string(row->body_component)] = row->body_schema();
        const ReplyShape& shape = row->handler.shape;
        if (shape.schema) schemas[std::string(shape.component)] = shape.schema();
    }
    return document;
}

Reply get_openapi(Call& call) {
    // The rows do not change while the process lives.
    static const std::string kDocument =
        openapi_document(call.context.settings.server.base_url, Described::Published);
    static const std::string kEtag = http::etag_of(kDocument);
    Reply reply = json_reply(200, kDocument);
    reply.headers.emplace_back("ETag", kEtag);
    reply.headers.emplace_back("Cache-Control", "public, max-age=300");
    if (http::is_known_by(call.request.if_none_match, kEtag)) {
        reply.status = 304;
        reply.body.clear();
    }
    return reply;
}

Json::Value any_object() {
    return JsonType<std::string>::typed("object");
}

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/openapi/partner.json",
             .operation = "getDescription",
             .summary = "This description",
             .access = Access::Open,
             .reply = {200, "OpenAPI 3.1.0."},
             .second_reply = kNotModified,
             .handler = {get_openapi, {"application/json", "OpenApi", any_object}}},
};
static_assert(well_formed(kEndpoints, "/openapi"));

}  // namespace

std::span<const Endpoint> openapi_endpoints() {
    return kEndpoints;
}

std::string openapi_document(std::string_view base_url, Described described) {
    return json_text_pretty(build_document(base_url, described));
}

}  // namespace muster::api
