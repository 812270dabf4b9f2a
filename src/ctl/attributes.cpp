// musterctl attribute.
#include "service/attributes.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/attributes.hpp"
#include "service/access/organizations.hpp"

#include <algorithm>

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

// Attributes cannot be deleted, so those that exist now can be changed.
void reject_unknown(const Invocation& in, const rules::AttributeRegistry& registry) {
    for (const std::string& key : in.arguments) {
        if (std::ranges::find(registry.all(), key, &rules::Attribute::key) != registry.all().end())
            continue;
        throw CommandError(
            "the organization has no attribute " + printable(key) +
            "; nothing was changed; `musterctl attribute list` shows its attributes");
    }
}

Result set_enabled(const Invocation& in, bool enabled) {
    if (in.arguments.empty()) {
        throw UsageError("KEY is missing; name the keys of one attribute or more");
    }
    const OrgId organization = in.lasting_organization();
    reject_unknown(in, service::attribute_registry(in.context, organization));
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const std::string& key : in.arguments) {
        (void)service::enable_attribute(in.context, organization, key, enabled);
        result.json.append(key);
    }
    return result;
}

rules::AttributeType type_option(const Invocation& in) {
    const auto type = parse<rules::AttributeType>(in.required("--type"));
    if (type) return *type;
    throw invalid_value("--type", in.required("--type"),
                        "text, number, date, boolean, single_choice or multi_choice");
}

std::string key_option(const Invocation& in) {
    const std::string& key = in.required("--key");
    if (rules::is_attribute_key(key)) return key;
    throw invalid_value("--key", key,
                        "1 to 64 characters: parts of lower-case letters, digits and _ that begin "
                        "with a letter, joined by dots");
}

// Throws UsageError for a list with a type that has no choices, and for a type without its list.
void check_choices_fit(const Invocation& in, rules::AttributeType type) {
    const bool has_choices =
        type == rules::AttributeType::SingleChoice || type == rules::AttributeType::MultiChoice;
    const bool is_given = in.flag("--choices");
    const std::string type_text = "the type " + std::string(text_of(type));
    if (has_choices && !is_given) {
        throw UsageError("--choices is missing: " + type_text + " needs choices, such as A,B,C",
                         "attribute add");
    }
    if (is_given && !has_choices) {
        throw UsageError("--choices does not fit " + type_text +
                             "; leave it out, or use --type single_choice or multi_choice",
                         "attribute add");
    }
}

std::vector<std::string> choices_option(const Invocation& in) {
    std::vector<std::string> choices;
    if (!in.flag("--choices")) return choices;
    const auto words = split(in.required("--choices"), ',');
    if (words.size() > service::kMostChoices) {
        throw UsageError("--choices has " + std::to_string(words.size()) + " entries; use 1 to " +
                         std::to_string(service::kMostChoices));
    }
    for (const std::string_view word : words) {
        const std::string entry = "entry " + std::to_string(choices.size() + 1) + " of --choices";
        std::string whole;  // composed, as the API does it
        std::string choice = checked_value(entry, composed(word, whole), service::checked_name);
        if (std::ranges::find(choices, choice) != choices.end()) {
            throw invalid_value(entry, choice, "each choice once");
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

rules::Attribute attribute_of(const Invocation& in) {
    const rules::AttributeType type = type_option(in);
    const std::string key = key_option(in);
    const std::string label = in.optional("--label", key);
    check_choices_fit(in, type);
    return {.key = key,
            .label = checked_value("--label", label, service::checked_name),
            .type = type,
            .choices = choices_option(in),
            .enabled = true};
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
    const rules::Attribute attribute = attribute_of(in);
    service::add_attribute(in.context, in.lasting_organization(), attribute);
    Result result;
    result.json = attribute_json(attribute);
    return result;
}

}  // namespace muster::ctl
