// musterctl attribute.
#include "service/attributes.hpp"

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "service/access/organizations.hpp"

namespace muster::ctl {
namespace {

Json::Value attribute_json(const rules::Attribute& attribute) {
    Json::Value json;
    json["key"] = attribute.key;
    json["label"] = attribute.label;
    json["type"] = std::string(text_of(attribute.type));
    json["enabled"] = attribute.enabled;
    json["choices"] = Json::Value(Json::arrayValue);
    for (const std::string& choice : attribute.choices) json["choices"].append(choice);
    return json;
}

Result set_enabled(const Invocation& in, bool enabled) {
    if (in.arguments.empty()) throw UsageError("name at least one attribute key");
    const OrgId organization = in.organization();
    service::require_organization(in.context, organization);
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const std::string& key : in.arguments) {
        if (!service::enable_attribute(in.context, organization, key, enabled)) {
            throw CommandError("the organization has no attribute " + key);
        }
        result.json.append(key);
    }
    return result;
}

}  // namespace

Result list_attributes(const Invocation& in) {
    service::require_organization(in.context, in.organization());
    Result result;
    result.json = Json::Value(Json::arrayValue);
    const auto registry = service::attribute_registry(in.context, in.organization());
    for (const auto& attribute : registry.all()) {
        result.json.append(attribute_json(attribute));
        result.text += attribute.key + "  " + std::string(text_of(attribute.type)) +
                       (attribute.enabled ? "  enabled" : "  disabled") + "\n";
    }
    return result;
}

Result enable_attributes(const Invocation& in) {
    return set_enabled(in, true);
}
Result disable_attributes(const Invocation& in) {
    return set_enabled(in, false);
}

Result add_attribute(const Invocation& in) {
    rules::Attribute attribute;
    attribute.key = in.required("--key");
    attribute.label = in.optional("--label", attribute.key);
    const auto type = parse<rules::AttributeType>(in.required("--type"));
    if (!type) {
        throw invalid_value("--type", in.required("--type"),
                            "text, number, date, boolean, single_choice or multi_choice");
    }
    attribute.type = *type;
    attribute.enabled = true;
    if (const std::string choices = in.optional("--choices"); !choices.empty()) {
        for (const std::string_view choice : split(choices, ',')) {
            attribute.choices.emplace_back(trimmed(choice));
        }
    }
    service::require_organization(in.context, in.organization());
    service::add_attribute(in.context, in.organization(), attribute);
    Result result;
    result.json = attribute_json(attribute);
    return result;
}

}  // namespace muster::ctl
