#include "api/openapi_components.hpp"

#include "base/faults.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace muster::api::openapi {
namespace {

constexpr std::string_view kComponents = "#/components/";

Json::Value text_schema() {
    return JsonType<std::string>::schema();
}
Json::Value integer_schema() {
    return JsonType<int>::schema();
}
Json::Value pattern_schema(const char* pattern) {
    Json::Value schema = text_schema();
    schema["pattern"] = pattern;
    return schema;
}

struct Header {
    std::string_view name;
    std::string_view description;
    Json::Value (*schema)();
    bool is_required = false;
};
constexpr std::array kHeaders = {
    Header{"X-Request-Id", "Id of the request. Quote it when you report a fault.",
           [] { return pattern_schema("^[0-9a-f]{32}$"); }, true},
    Header{"RateLimit-Policy",
           "q: maximum burst of requests; w: seconds until it is available again. Present once "
           "the caller is identified. A second entry is the rate of the organization, while less "
           "is left of it.",
           [] {
               return pattern_schema(
                   "^\"default\";q=[1-9][0-9]*;w=[1-9][0-9]*"
                   "(, \"organization\";q=[1-9][0-9]*;w=[1-9][0-9]*)?$");
           }},
    Header{"RateLimit",
           "r: requests available now; t: seconds until all of q are available. Present once the "
           "caller is identified. It has the same entries as RateLimit-Policy.",
           [] {
               return pattern_schema(
                   "^\"default\";r=[0-9]+;t=[0-9]+"
                   "(, \"organization\";r=[0-9]+;t=[0-9]+)?$");
           }},
    Header{"Retry-After", "Seconds to wait before the next request.",
           [] {
               Json::Value schema = integer_schema();
               schema["minimum"] = 1;
               return schema;
           }},
    Header{"X-Next-Cursor", "Pass it as cursor to get the next records; absent at the end.",
           text_schema},
    Header{"X-Next-After", "Pass it as after to get the next rows; absent at the end.",
           [] {
               Json::Value schema = integer_schema();
               schema["minimum"] = 1;
               return schema;
           }},
    Header{"X-Active-Organization",
           "Id of the organization that the admin's session acts on. Absent for keys.",
           [] { return JsonType<OrgId>::schema(); }},
    Header{"ETag", "Strong ETag of this representation, for If-Match and If-None-Match.",
           text_schema},
    Header{"Location", "Path of the new record, if any, or the target address of a redirect.",
           text_schema},
    Header{"Idempotency-Replayed",
           "true if this is the recorded reply to an earlier request with the same "
           "Idempotency-Key.",
           [] { return one_of({"true"}); }},
    Header{"Set-Cookie", "The cookie that identifies the browser, for ten minutes.", text_schema},
    Header{"WWW-Authenticate", "The scheme of the Authorization header.",
           [] { return one_of({"Bearer"}); }},
};

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

Json::Value field_code_schema() {
    constexpr std::array kCodes = {
        FieldCode::Required,         FieldCode::UnknownField,  FieldCode::WrongType,
        FieldCode::TooLong,          FieldCode::TooShort,      FieldCode::OutOfRange,
        FieldCode::InvalidEmail,     FieldCode::InvalidDate,   FieldCode::InvalidCountry,
        FieldCode::InvalidUrl,       FieldCode::InvalidUuid,   FieldCode::InvalidChoice,
        FieldCode::InvalidTimestamp, FieldCode::Duplicate,     FieldCode::UnknownAttribute,
        FieldCode::InvalidValue,     FieldCode::InvalidCursor,
    };
    Json::Value schema = one_of({});
    for (const FieldCode code : kCodes) schema["enum"].append(std::string(field_code_text(code)));
    return schema;
}

// What a field accepts. Only members that help to fix the fault are present.
void add_limits(Json::Value& to) {
    to["allowed"] = described(array_of_schema(text_schema()),
                              "The accepted values; absent if there are more than 50.",
                              R"(["active", "locked"])");
    to["minimum"] = described(integer_schema(), "The least accepted number.", "1");
    to["maximum"] = described(integer_schema(), "The greatest accepted number.", "100");
    to["min_length"] = described(
        integer_schema(), "The least length: characters of a text, entries of an array.", "1");
    to["max_length"] = described(
        integer_schema(),
        "The greatest length: characters of a text, entries of an array, bytes of JSON.", "255");
    to["format"] = described(text_schema(), "The accepted form.", "date");
}

// The details that Error::detail() and Error::fields() add.
Json::Value details_schema() {
    Json::Value fault = JsonType<std::string>::typed("object");
    fault["title"] = "FieldFault";
    fault["properties"]["path"] =
        described(text_schema(), "Path of the body field, or name of the query parameter.",
                  "rows[3].payload.email");
    fault["properties"]["code"] =
        described(field_code_schema(), "Code of the fault, for programs.", "");
    fault["properties"]["message"] = described(
        text_schema(), "Description of the fault, for people.", "is not an email address");
    for (const char* key : {"path", "code", "message"}) fault["required"].append(key);
    add_limits(fault["properties"]);

    Json::Value details = JsonType<std::string>::typed("object");
    Json::Value& of = details["properties"];
    of["fields"] = described(array_of_schema(std::move(fault)), "The faults, up to 100.", "");
    of["truncated"] = described(JsonType<bool>::schema(), "Whether there are more faults.", "");
    of["reason"] = described(
        text_schema(),
        "The cause in more detail. A constant for UNAUTHORIZED (MISSING, INVALID, SESSION_ENDED, "
        "WRONG_CODE) and ORIGIN_NOT_ALLOWED (MISSING, FOREIGN); otherwise a sentence.",
        "");
    of["field"] = described(text_schema(), "The field or header that conflicts.", "slug");
    of["state"] = described(text_schema(), "State of the import job or member job.", "completed");
    of["expected"] = described(text_schema(), "State that the call requires.", "staging");
    of["job_id"] =
        described(JsonType<ImportId>::schema(), "Id of the active import job or member job.", "");
    of["staged_rows"] = described(integer_schema(), "Number of rows already staged.", "");
    of["limit"] = described(integer_schema(), "Maximum number of rows of a job.", "");
    of["quota"] = described(text_schema(), "The limit of the day that is used up.", "staged_bytes");
    of["maximum"] = described(integer_schema(), "What may be used in a day.", "");
    of["used"] = described(integer_schema(), "What is used today.", "");
    of["frees_at"] = described(JsonType<Timestamp>::schema(), "Time when the next day begins.", "");
    of["limit_bytes"] = described(integer_schema(), "Maximum size of the body in bytes.", "");
    return details;
}

Json::Value envelope(const char* code, int status, const char* message) {
    Json::Value value;
    value["error"]["code"] = code;
    value["error"]["status"] = status;
    value["error"]["message"] = message;
    return value;
}

std::vector<std::string_view> headers_of(int status, const std::vector<ErrorCode>& codes) {
    std::vector<std::string_view> names = {"X-Request-Id", "RateLimit", "RateLimit-Policy",
                                           "X-Active-Organization"};
    if (status == 401) names.emplace_back("WWW-Authenticate");
    const bool can_wait = std::any_of(codes.begin(), codes.end(), [](ErrorCode code) {
        const int of = error_entry(code).status;
        return of == 429 || of == 503 || code == ErrorCode::IdempotencyInProgress;
    });
    if (can_wait) names.emplace_back("Retry-After");
    return names;
}

// Collects the components that the node references, such as "schemas/User".
void collect_references(const Json::Value& node, std::set<std::string>& to) {
    if (!node.isObject() && !node.isArray()) return;
    if (node.isObject() && node["$ref"].isString()) {
        to.insert(node["$ref"].asString().substr(kComponents.size()));
    }
    if (node.isObject() && node["security"].isArray()) {
        for (const Json::Value& scheme : node["security"]) {
            for (const auto& name : scheme.getMemberNames()) to.insert("securitySchemes/" + name);
        }
    }
    for (const Json::Value& inner : node) collect_references(inner, to);
}

}  // namespace

Json::Value reference(std::string_view kind, std::string_view name) {
    Json::Value value;
    value["$ref"] = std::string(kComponents) + std::string(kind) + "/" + std::string(name);
    return value;
}

Json::Value headers() {
    Json::Value all;
    for (const Header& header : kHeaders) {
        Json::Value& value = all[std::string(header.name)];
        value["description"] = std::string(header.description);
        value["schema"] = header.schema();
        if (header.is_required) value["required"] = true;
    }
    return all;
}

Json::Value security_schemes() {
    Json::Value all;
    all["organizationKey"] = bearer("An organization's API key, org_….");
    all["moduleCredential"] = bearer("A module credential, mk_live_…, with a signed request.");
    all["trackingKey"] = key_in_query(
        "A tracking key, ek_live_…. The request must come from one of the key's allowed_origins.");
    all["contentKey"] = key_in_query(
        "A content key, ck_live_…. The request must come from one of the key's allowed_origins.");
    all["adminSession"] = bearer(
        "The token of an admin's sign-in. All operations except those of the session and the second "
        "factor require a verified second factor. The console's pages have it in a cookie.");
    return all;
}

Json::Value header_references(const std::vector<std::string_view>& names) {
    Json::Value all;
    for (const std::string_view name : names) all[std::string(name)] = reference("headers", name);
    return all;
}

Json::Value error_schema() {
    Json::Value codes = one_of({});
#define ERROR(name, code, status, message, advice) codes["enum"].append(code);
#include "base/error_codes.def"
#undef ERROR
    Json::Value error = JsonType<std::string>::typed("object");
    error["properties"]["code"] = described(codes, "Code of the error, for programs.", "");
    error["properties"]["status"] = described(integer_schema(), "The HTTP status.", "");
    error["properties"]["message"] = described(
        text_schema(), "Description of the error, for people. The wording may change.", "");
    error["properties"]["details"] =
        described(details_schema(), "Details of the error; absent if there are none.", "");
    for (const char* key : {"code", "status", "message"}) error["required"].append(key);
    Json::Value schema = JsonType<std::string>::typed("object");
    schema["title"] = "ApiError";
    schema["properties"]["error"] = described(std::move(error), "The error.", "");
    schema["required"].append("error");
    return schema;
}

Json::Value error_examples() {
    Json::Value all;
#define ERROR(name, code, status, message, advice) \
    all[code]["value"] = envelope(code, status, message);
#include "base/error_codes.def"
#undef ERROR
    return all;
}

Json::Value error_response(const std::vector<ErrorCode>& codes) {
    Json::Value response;
    std::string text;
    Json::Value& content = response["content"]["application/json"];
    for (const ErrorCode code : codes) {
        const ErrorEntry& entry = error_entry(code);
        if (!text.empty()) text += " ";
        text += "`" + std::string(entry.text) + "`: " + std::string(entry.message) + " " +
                std::string(entry.advice);
        content["examples"][std::string(entry.text)] = reference("examples", entry.text);
    }
    response["description"] = text;
    content["schema"] = reference("schemas", "ApiError");
    response["headers"] = header_references(headers_of(error_entry(codes.front()).status, codes));
    return response;
}

std::string response_name(const std::vector<ErrorCode>& codes) {
    std::string name;
    for (const ErrorCode code : codes) {
        if (!name.empty()) name += "Or";
        for (const std::string_view word : split(error_entry(code).text, '_')) {
            std::string rest(word.substr(1));
            ascii_lower(rest);
            name += word[0] + rest;
        }
    }
    return name;
}

void SharedValues::add(std::string name, const Json::Value& value) {
    for (Entry& entry : entries_) {
        if (entry.value != value) continue;
        ++entry.uses;
        return;
    }
    entries_.push_back({std::move(name), value, 1});
}

bool SharedValues::is_component(const Entry& entry) const {
    if (entry.uses < 2) return false;
    const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
        return other.uses > 1 && other.name == entry.name;
    });
    return &*first == &entry;
}

Json::Value SharedValues::use(const Json::Value& value) const {
    for (const Entry& entry : entries_) {
        if (entry.value == value && is_component(entry)) return reference(kind_, entry.name);
    }
    return value;
}

Json::Value SharedValues::components() const {
    Json::Value all;
    for (const Entry& entry : entries_) {
        if (is_component(entry)) all[entry.name] = entry.value;
    }
    return all;
}

void hoist(Json::Value& node, Json::Value& schemas) {
    if (!node.isObject() && !node.isArray()) return;
    for (auto inner = node.begin(); inner != node.end(); ++inner) {
        const bool is_example = node.isObject() && inner.name().starts_with("example");
        if (!is_example) hoist(*inner, schemas);
    }
    if (!node.isObject() || !node.isMember("title") || !node["title"].isString()) return;
    const std::string name = node["title"].asString();
    Json::Value left = reference("schemas", name);
    node.removeMember("title");
    // These belong to the place of use, not to the schema.
    for (const char* key : {"description", "examples"}) {
        Json::Value text;
        if (node.removeMember(key, &text)) left[key] = std::move(text);
    }
    if (schemas.isMember(name) && schemas[name] != node) {
        throw std::logic_error("two schemas are called " + name);
    }
    schemas[name] = std::move(node);
    node = std::move(left);
}

void drop_unused_components(Json::Value& document) {
    Json::Value& components = document["components"];
    std::set<std::string> used;
    collect_references(document["paths"], used);
    for (std::size_t known = 0; known != used.size();) {
        known = used.size();
        for (const std::string& path : std::set(used)) {
            const std::size_t slash = path.find('/');
            collect_references(components[path.substr(0, slash)][path.substr(slash + 1)], used);
        }
    }
    for (const std::string& kind : components.getMemberNames()) {
        for (const std::string& name : components[kind].getMemberNames()) {
            std::string path = kind;
            path.append("/").append(name);
            if (!used.contains(path)) components[kind].removeMember(name);
        }
    }
}

}  // namespace muster::api::openapi
