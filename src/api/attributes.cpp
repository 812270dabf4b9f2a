// Serves /v1/attributes: the organization's attribute registry (specification 2.2), which the
// operator writes with `musterctl attribute` too.
#include "service/attributes.hpp"

#include "api/groups.hpp"

namespace muster::api {
namespace {

using rules::AttributeRecord;
using service::AttributeChange;
using service::OrgTransaction;

// Which choices go with which type is service/attributes.cpp's to say.
constexpr auto kAttributeChange = json::object<AttributeChange>(
    json::optional("label", &AttributeChange::label, json::Text{1, 255}),
    json::required("type", &AttributeChange::type, json::Choice<rules::AttributeType>{}),
    json::optional("choices", &AttributeChange::choices,
                   json::array_of(json::Text{1, 255}, 0, service::kMostChoices)),
    json::required("enabled", &AttributeChange::enabled, json::Boolean{}));

// A field of the record's inner Attribute.
template <auto Member>
constexpr RecordField<AttributeRecord> inner(std::string_view name) {
    using Value = typename MemberOf<decltype(Member)>::Value;
    return {name,
            [](JsonWriter& to, const AttributeRecord& record) {
                JsonType<Value>::write(to, record.attribute.*Member);
            },
            [] { return JsonType<Value>::schema(); }};
}

constexpr auto kAttribute = record<AttributeRecord>(
    "Attribute", inner<&rules::Attribute::key>("key"), inner<&rules::Attribute::label>("label"),
    inner<&rules::Attribute::type>("type"), inner<&rules::Attribute::choices>("choices"),
    inner<&rules::Attribute::enabled>("enabled"),
    RecordField<AttributeRecord>{"starter",
                                 [](JsonWriter& to, const AttributeRecord& record) {
                                     to.boolean(
                                         service::is_starter_attribute(record.attribute.key));
                                 },
                                 JsonType<bool>::schema},
    field<&AttributeRecord::created_at>("created_at"),
    field<&AttributeRecord::updated_at>("updated_at"));

auto list_attributes(Call& call) {
    auto attributes =
        service::list_attributes(call.context, call.org(), call.cursor_position().value_or(""),
                                 call.query.integer("limit") + 1);
    return page_of(call, std::move(attributes),
                   [](const AttributeRecord& record) { return record.attribute.key; });
}

auto put_attribute(Call& call, OrgTransaction& transaction, const AttributeChange& change) {
    return service::put_attribute(transaction, call.parameters.at(0), change);
}

constexpr std::array kListQuery = {
    page_limit("Attributes a page."),
    kPageCursor,
};

constexpr std::array kChangeErrors = {ErrorCode::InvalidState};

constexpr auto kAttributeList = list_of<kAttribute>("AttributeList", "attributes");

constexpr std::array kEndpoints = {
    Endpoint{.method = http::Method::Get,
             .path = "/v1/attributes",
             .operation = "listAttributes",
             .summary = "List the attribute registry, disabled attributes too",
             .query = kListQuery,
             .reply = {200, "A page of attributes."},
             .handler = answers<kAttributeList, list_attributes>},
    Endpoint{
        .method = http::Method::Put,
        .path = "/v1/attributes/{key}",
        .operation = "putAttribute",
        .summary = "Create or change an attribute; an absent label or choices stay as they are",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "AttributeChange",
        .body_schema = schema_of<kAttributeChange>,
        .body_example = R"({"type": "single_choice", "choices": ["S", "M"], "enabled": true})",
        .reply = {200, "The attribute, created or changed."},
        .errors = kChangeErrors,
        .handler = decoded<kAttributeChange, answers<kAttribute, put_attribute>>},
};
static_assert(well_formed(kEndpoints, "/v1/attributes"));

}  // namespace

std::span<const Endpoint> attribute_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
