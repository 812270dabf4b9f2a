#include "api/openapi_operation.hpp"

#include "base/text.hpp"

#include <array>
#include <map>

namespace muster::api::openapi {
namespace {

constexpr bool takes_session(Access access) {
    return access != Access::Open && access != Access::Module && !is_publishable(access);
}

constexpr bool has_rate(Access access) {
    return access != Access::Open && access != Access::ContentKey;
}

// ---------------------------------------------------------------------------- parameters

struct PathParameter {
    std::string_view name;
    std::string_view meaning;
};
constexpr std::array kPathParameters = {
    PathParameter{"id", "Id of the record."},
    PathParameter{"key", "Key of the attribute: parts of a-z, 0-9 and _, joined by dots."},
    PathParameter{"slug", "Slug of the article."},
    PathParameter{"token", "Token of the ad, from serveAd."},
    PathParameter{"userId", "Id of the user."},
    PathParameter{"adminId", "Id of the admin who has the seat."},
    PathParameter{"organizationId", "Id of the organization."},
    PathParameter{"invitationId", "Id of the invitation."},
    PathParameter{"moduleId", "Id of the module."},
    PathParameter{"versionId", "Id of the module's version."},
    PathParameter{"credentialId", "Id of the credential."},
    PathParameter{"endpointId", "Id of the webhook endpoint."},
    PathParameter{"deliveryId", "Id of the delivery."},
    PathParameter{"connectionId", "Id of the connection."},
    PathParameter{"slotId", "Id of the ad slot."},
    PathParameter{"campaignId", "Id of the ad campaign."},
    PathParameter{"creativeId", "Id of the ad creative."},
};

Json::Value parameter(std::string_view in, std::string_view name, std::string_view meaning) {
    Json::Value value;
    value["name"] = std::string(name);
    value["in"] = std::string(in);
    value["description"] = std::string(meaning);
    value["schema"]["type"] = "string";
    return value;
}

void add_path_parameters(std::string_view path, Json::Value& to) {
    for (const std::string_view segment : split(path, '/')) {
        if (!segment.starts_with('{')) continue;
        const std::string_view name = segment.substr(1, segment.size() - 2);
        std::string_view meaning;
        for (const PathParameter& known : kPathParameters) {
            if (known.name == name) meaning = known.meaning;
        }
        Json::Value value = parameter("path", name, meaning);
        value["required"] = true;
        if (is_id_parameter(segment)) value["schema"]["format"] = "uuid";
        to.append(std::move(value));
    }
}

// The schema of one value, without choices.
Json::Value value_schema(const QueryParameter& query) {
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
            if (query.least > 0) schema["minLength"] = query.least;
            break;
        case QueryParameter::Kind::Uuid:
            schema["type"] = "string";
            schema["format"] = "uuid";
            break;
        case QueryParameter::Kind::Map:
            schema = map_of(JsonType<std::string>::schema());
            schema["propertyNames"]["pattern"] = "^" + std::string(query.name) + "\\.";
            break;
        case QueryParameter::Kind::Cursor:
        case QueryParameter::Kind::Text:
            schema["type"] = "string";
            if (query.least > 0) schema["minLength"] = query.least;
            break;
    }
    return schema;
}

Json::Value query_schema(const QueryParameter& query) {
    Json::Value schema = value_schema(query);
    if (query.choice) {
        for (std::size_t i = 0; !query.choice(i).empty(); ++i) {
            schema["enum"].append(std::string(query.choice(i)));
        }
    }
    if (query.is_list) {
        Json::Value list = array_of_schema(std::move(schema));
        list["minItems"] = 1;
        list["uniqueItems"] = true;
        return list;
    }
    return schema;
}

void add_query_parameters(const Endpoint& row, Json::Value& to) {
    for (const QueryParameter& query : row.query) {
        Json::Value value = parameter("query", query.name, query.meaning);
        value["schema"] = query_schema(query);
        if (query.is_list) {
            value["style"] = "form";
            value["explode"] = false;
        }
        if (query.kind == QueryParameter::Kind::Map) {
            value["style"] = "form";
            value["explode"] = true;
        }
        to.append(std::move(value));
    }
}

Json::Value idempotency_key(bool is_required) {
    Json::Value value = parameter(
        "header", "Idempotency-Key",
        "1 to 255 visible ASCII characters. A request with the same key and body gets the recorded "
        "reply; one with another body is 409 IDEMPOTENCY_CONFLICT.");
    value["schema"]["minLength"] = 1;
    value["schema"]["maxLength"] = 255;
    if (is_required) value["required"] = true;
    return value;
}

Json::Value signature() {
    Json::Value value = parameter(
        "header", "x-svc-signature",
        "t=<unix seconds>,v1=<hex HMAC-SHA256 of \"{t}.{Idempotency-Key}.{body}\" under the signing "
        "secret>. t must be within 300 seconds of now. Of several v1, one must match.");
    value["required"] = true;
    return value;
}

// A header that names an organization.
Json::Value organization_header(const char* name, const char* meaning) {
    Json::Value value = parameter("header", name, meaning);
    value["schema"]["format"] = "uuid";
    return value;
}

// The headers that name the organization of the request.
void add_organization_headers(const Endpoint& row, Json::Value& to) {
    if (row.access == Access::Open || is_publishable(row.access)) return;
    if (row.access != Access::Module) {
        to.append(organization_header(
            "X-Organization",
            "Id of the organization on which an admin's session acts for this request. The "
            "active organization stays as it is."));
    }
    to.append(organization_header(
        "X-Expect-Organization",
        "Id of the expected organization. If the credential acts on another one, the reply is "
        "409 CONFLICT and nothing is changed."));
}

constexpr const char* kOrigin = "Origin";

// The headers of a page in a browser.
void add_page_headers(const Endpoint& row, Json::Value& to) {
    if (row.access != Access::Console) return;
    const bool is_read = row.method == http::Method::Get;
    Json::Value origin = parameter(
        "header", kOrigin,
        is_read ? "The console's origin. Browsers send it, except with a GET to their own "
                  "site."
                : "The console's origin. Browsers send it.");
    if (!is_read) origin["required"] = true;
    to.append(std::move(origin));
    to.append(parameter("header", "Sec-Fetch-Site",
                        "same-origin. Browsers send it; for a GET it replaces the Origin. If it is "
                        "absent, the Referer does."));
}

void add_header_parameters(const Endpoint& row, Json::Value& to) {
    if (row.idempotency != IdempotencyKey::Ignored) {
        to.append(idempotency_key(row.idempotency == IdempotencyKey::Required));
    }
    if (row.access == Access::Module) to.append(signature());
    add_page_headers(row, to);
    if (row.accepts_gzip) {
        Json::Value value = parameter("header", "Content-Encoding",
                                      "gzip if the body is compressed. The limit of the body holds "
                                      "before and after decompression.");
        value["schema"] = one_of({"gzip", "identity"});
        to.append(std::move(value));
    }
    if (row.takes_if_match) {
        to.append(parameter("header", "If-Match",
                            "ETags, or *. The change is made only if the record has one of "
                            "them."));
    }
    if (row.takes_if_match && row.method == http::Method::Put) {
        Json::Value value = parameter("header", "If-None-Match",
                                      "* if the record must not exist yet. If it does, the reply "
                                      "is 412 PRECONDITION_FAILED.");
        value["schema"] = one_of({"*"});
        to.append(std::move(value));
    }
    if (row.takes_console_header) {
        Json::Value value = parameter("header", "X-Muster-Console",
                                      "1 from a page of the console: the token is then in a "
                                      "cookie, and null in the reply.");
        value["schema"] = one_of({"1"});
        to.append(std::move(value));
    }
    if (row.second_reply && row.second_reply->status == 304) {
        to.append(parameter("header", "If-None-Match",
                            "ETags of the client's copies; the reply is 304 if one of them is "
                            "current."));
    }
    add_organization_headers(row, to);
}

Json::Value parameters_of(const Endpoint& row) {
    Json::Value all(Json::arrayValue);
    add_path_parameters(row.path, all);
    add_query_parameters(row, all);
    add_header_parameters(row, all);
    return all;
}

// ---------------------------------------------------------------------------- responses

std::vector<std::string_view> headers_of(const Endpoint& row, const ReplySpec& reply) {
    std::vector<std::string_view> names = {"X-Request-Id"};
    if (has_rate(row.access)) names.insert(names.end(), {"RateLimit", "RateLimit-Policy"});
    if (takes_session(row.access)) names.emplace_back("X-Active-Organization");
    if (row.idempotency != IdempotencyKey::Ignored) names.emplace_back("Idempotency-Replayed");
    if (reply.has_etag || reply.status == 304) names.emplace_back("ETag");
    if (reply.has_retry_after) names.emplace_back("Retry-After");
    if (reply.has_next_cursor) names.emplace_back("X-Next-Cursor");
    if (reply.has_next_after) names.emplace_back("X-Next-After");
    if (reply.has_cookie) names.emplace_back("Set-Cookie");
    const bool redirects = reply.status == 302 || reply.status == 303;
    if (redirects || row.reply.status == 201) names.emplace_back("Location");
    return names;
}

Json::Value named_schema(Json::Value (*schema)(), std::string_view component) {
    Json::Value value = schema();
    value["title"] = std::string(component);
    return value;
}

Json::Value reply_response(const Endpoint& row, const ReplySpec& reply) {
    Json::Value response;
    response["description"] = std::string(reply.meaning);
    response["headers"] = header_references(headers_of(row, reply));
    if (!has_body(reply.status)) return response;
    const ReplyShape& shape = row.handler.shape;
    Json::Value& content = response["content"][std::string(shape.content_type)];
    content["schema"] = shape.component.empty() ? JsonType<std::string>::schema()
                                                : named_schema(shape.schema, shape.component);
    return response;
}

// The errors by status. "default" is for those that many operations can return: a request that
// nginx cannot read or that is too large, overload, limits of a day and internal errors.
std::map<std::string, std::vector<ErrorCode>> errors_by_status(const Endpoint& row) {
    std::map<std::string, std::vector<ErrorCode>> all;
    for (const ErrorCode code : errors_of(row)) {
        all[std::to_string(error_entry(code).status)].push_back(code);
    }
    all["default"] = {ErrorCode::BadRequest,    ErrorCode::PayloadTooLarge,
                      ErrorCode::QuotaExceeded, ErrorCode::RateLimited,
                      ErrorCode::InternalError, ErrorCode::ServiceUnavailable};
    return all;
}

Json::Value responses_of(const Endpoint& row, const Shared& shared) {
    Json::Value all;
    all[std::to_string(row.reply.status)] = reply_response(row, row.reply);
    if (row.second_reply) {
        all[std::to_string(row.second_reply->status)] = reply_response(row, *row.second_reply);
    }
    for (const auto& [status, codes] : errors_by_status(row)) {
        all[status] = shared.responses.use(error_response(codes));
    }
    return all;
}

// ---------------------------------------------------------------------------- operation

// Whether the key may be in the body, which a page sends as text/plain (docs/engagement.md).
bool takes_key_in_body(const Endpoint& row) {
    return row.access == Access::TrackingKey && row.body_schema;
}

Json::Value request_body(const Endpoint& row) {
    Json::Value body;
    body["required"] = row.body_required;
    Json::Value& content = body["content"]["application/json"];
    content["schema"] = named_schema(row.body_schema, row.body_component);
    Json::Value example;
    if (parse_json(row.body_example, example)) content["example"] = std::move(example);
    if (takes_key_in_body(row)) {
        Json::Value& text = body["content"]["text/plain"]["schema"];
        text = JsonType<std::string>::schema();
        text["contentMediaType"] = "application/json";
    }
    return body;
}

// The accepted credentials, of which the caller needs one. An empty list: no credential is needed.
// An empty object: the credential may be in the body, which no scheme can describe.
Json::Value security_of(const Endpoint& row) {
    const Access access = row.access;
    Json::Value all(Json::arrayValue);
    const auto add = [&](const char* scheme) {
        all.append(Json::objectValue)[scheme] = Json::Value(Json::arrayValue);
    };
    if (access == Access::OrganizationOrAdmin) add("organizationKey");
    if (access == Access::Module) add("moduleCredential");
    if (access == Access::TrackingKey) add("trackingKey");
    if (access == Access::ContentKey) add("contentKey");
    if (takes_session(access)) add("adminSession");
    if (takes_key_in_body(row)) all.append(Json::objectValue);
    return all;
}

// Reads and changes have different parameters of the names Origin and If-None-Match.
std::string component_name(const Json::Value& parameter) {
    const std::string name = parameter["name"].asString();
    if (name == kOrigin && parameter["required"].asBool()) return "RequiredOrigin";
    return name == "If-None-Match" && parameter["schema"].isMember("enum") ? "IfNew" : name;
}

}  // namespace

void add_to(Shared& shared, const Endpoint& row) {
    for (const Json::Value& value : parameters_of(row)) {
        shared.parameters.add(component_name(value), value);
    }
    for (const auto& [status, codes] : errors_by_status(row)) {
        shared.responses.add(response_name(codes), error_response(codes));
    }
}

Json::Value operation_of(const Endpoint& row, std::string_view tag, const Shared& shared) {
    Json::Value operation;
    operation["operationId"] = std::string(row.operation);
    operation["tags"].append(std::string(tag));
    operation["summary"] = std::string(row.summary);
    operation["description"] = std::string(row.description);
    for (const Json::Value& value : parameters_of(row)) {
        operation["parameters"].append(shared.parameters.use(value));
    }
    if (row.body_schema) operation["requestBody"] = request_body(row);
    operation["responses"] = responses_of(row, shared);
    operation["security"] = security_of(row);
    return operation;
}

}  // namespace muster::api::openapi
