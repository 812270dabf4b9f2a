// Serves /v1/attributes: the organization's attribute registry (specification 2.2), which the
// operator also changes with `musterctl attribute`.
#include "service/attributes.hpp"

#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "rules/access/roles.hpp"
#include "rules/attributes.hpp"

namespace muster::api {
namespace {

using rules::AttributeRecord;
using service::AttributeChange;
using service::OrgTransaction;

// service/attributes.cpp checks the choices for the type.
constexpr auto kAttributeChange = json::object<AttributeChange>(
    json::optional("label", &AttributeChange::label, json::Text{1, 255},
                   "Name for people. If omitted, not changed; a new attribute gets its key.",
                   "Shirt size"),
    json::required(
        "type", &AttributeChange::type, json::Choice<rules::AttributeType>{},
        "Type of the values. It cannot change while a member has a value, nor for a starter "
        "attribute."),
    json::optional(
        "choices", &AttributeChange::choices,
        json::array_of(json::Text{1, 255, true}, 0, service::kMostChoices),
        "Allowed values of single_choice and multi_choice, without duplicates. If omitted, not changed."),
    json::required("enabled", &AttributeChange::enabled, json::Boolean{},
                   "Whether the attribute can be written. A disabled attribute keeps its values."));

constexpr auto kAttribute = record<AttributeRecord>(
    "Attribute",
    field<&AttributeRecord::attribute, &rules::Attribute::key>(
        "key", "Key of the attribute in payloads and mappings.", "shirt_size"),
    field<&AttributeRecord::attribute, &rules::Attribute::label>("label", "Name for people.",
                                                                 "Shirt size"),
    field<&AttributeRecord::attribute, &rules::Attribute::type>("type", "Type of the values."),
    field<&AttributeRecord::attribute, &rules::Attribute::choices>(
        "choices", "Allowed values of single_choice and multi_choice; empty for other types.",
        R"(["S", "M", "L"])"),
    field<&AttributeRecord::attribute, &rules::Attribute::enabled>(
        "enabled", "Whether the attribute can be written. A disabled attribute keeps its values."),
    RecordField<AttributeRecord>{
        "starter", "Whether every organization starts with this attribute.",
        [](JsonWriter& to, const AttributeRecord& record) {
            to.boolean(service::is_starter_attribute(record.attribute.key));
        },
        JsonType<bool>::schema},
    field<&AttributeRecord::created_at>("created_at", "Time when the record was created."),
    field<&AttributeRecord::updated_at>("updated_at", "Time of the last change."));

auto list_attributes(Call& call) {
    auto attributes =
        service::list_attributes(call.context, call.org(), call.cursor_position().value_or(""),
                                 call.query.integer("limit") + 1);
    return page_of(call, std::move(attributes),
                   [](const AttributeRecord& record) { return record.attribute.key; });
}

auto get_attribute(Call& call) {
    return service::find_attribute(call.context, call.org(), call.parameters.at(0));
}

auto put_attribute(Call& call, OrgTransaction& transaction, const AttributeChange& change) {
    return service::put_attribute(transaction, call.parameters.at(0), change, version_check(call));
}

constexpr std::array kAttributeListQuery = {
    page_limit(),
    kPageCursor,
};

constexpr std::array kAttributeReadErrors = {ErrorCode::NotFound};
constexpr std::array kAttributeChangeErrors = {ErrorCode::InvalidState};

constexpr auto kAttributeList = list_of<kAttribute>("AttributeList", "attributes");

constexpr std::array kAttributeEndpoints = {
    Endpoint{
        .method = http::Method::Get,
        .path = "/v1/attributes",
        .operation = "listAttributes",
        .summary = "List the attribute registry, including disabled attributes",
        .description =
            "Lists the attributes that members of this organization can have, by key. Disabled "
            "attributes and the starter attributes are included.",
        .query = kAttributeListQuery,
        .reply = {200, "A page of attributes."},
        .handler = answers<kAttributeList, list_attributes>},
    Endpoint{.method = http::Method::Get,
             .path = "/v1/attributes/{key}",
             .operation = "getAttribute",
             .summary = "Get an attribute",
             .description =
                 "Returns one attribute of the registry, enabled or not. A key that the registry "
                 "does not have is 404.",
             .reply = with_version({200, "The attribute."}),
             .errors = kAttributeReadErrors,
             .handler = answers<kAttribute, get_attribute>},
    Endpoint{
        .method = http::Method::Put,
        .path = "/v1/attributes/{key}",
        .operation = "putAttribute",
        .summary = "Create or change an attribute",
        .description =
            "Creates the attribute, or changes the one with this key. With `If-None-Match: *` it "
            "only creates: 412 PRECONDITION_FAILED if the key exists. The call can be repeated. A "
            "type cannot change while a member has a value, nor for a starter attribute: 409 "
            "INVALID_STATE. Attributes cannot be deleted; disable them instead.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "AttributeChange",
        .body_schema = schema_of<kAttributeChange>,
        .body_example = R"({"type": "single_choice", "choices": ["S", "M"], "enabled": true})",
        .reply = with_version({200, "The attribute, created or changed."}),
        .errors = kAttributeChangeErrors,
        .handler = decoded<kAttributeChange, answers<kAttribute, put_attribute>>},
};
static_assert(well_formed(kAttributeEndpoints, "/v1/attributes"));

}  // namespace

std::span<const Endpoint> attribute_endpoints() {
    return kAttributeEndpoints;
}

}  // namespace muster::api
