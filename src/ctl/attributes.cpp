// musterctl attribute.
#include "service/attributes.hpp"

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/attributes.hpp"

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

std::string choices_cell(const rules::Attribute& attribute) {
    std::string text;
    for (const std::string& choice : attribute.choices) {
        text += (text.empty() ? "" : ", ") + choice;
    }
    return text;
}

Result set_enabled(const Invocation& in, bool enabled) {
    if (in.arguments.empty()) {
        throw UsageError("KEY is missing; name the keys of one attribute or more");
    }
    const OrgId organization = in.organization();
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const std::string& key : in.arguments) {
        if (!service::enable_attribute(in.context, organization, key, enabled)) {
            throw CommandError("the organization has no attribute " + printable(key) +
                               "; `musterctl attribute list` shows them");
        }
        result.json.append(key);
    }
    return result;
}

}  // namespace

Result list_attributes(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"KEY", "TYPE", "STATE", "LABEL", "CHOICES"});
    const auto registry = service::attribute_registry(in.context, in.organization());
    for (const auto& attribute : registry.all()) {
        result.json.append(attribute_json(attribute));
        table.add({attribute.key, std::string(text_of(attribute.type)),
                   attribute.enabled ? "enabled" : "disabled", attribute.label,
                   choices_cell(attribute)});
    }
    result.text = table.text();
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
    service::add_attribute(in.context, in.organization(), attribute);
    Result result;
    result.json = attribute_json(attribute);
    return result;
}

}  // namespace muster::ctl
