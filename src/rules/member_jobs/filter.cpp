#include "rules/member_jobs/filter.hpp"

#include "base/json.hpp"
#include "json/json_body.hpp"

#include <stdexcept>

namespace muster::rules {
namespace {

[[noreturn]] void reject(const std::string& reason) {
    throw std::invalid_argument("the stored filter " + reason);
}

// Throws unless there is a value.
template <class Value>
Value known(std::optional<Value> value) {
    if (!value) reject("has a value that is not valid");
    return std::move(*value);
}

std::string text_of_member(const json::JsonIn& value) {
    return std::string(known(value.string()));
}

std::vector<AttributeCondition> attributes_of(const json::JsonIn& object) {
    std::vector<AttributeCondition> conditions;
    for (const auto& [key, value] : known(object.object())) {
        if (!is_condition_value(value)) reject("has an attribute that is not a single value");
        auto& condition = conditions.emplace_back(AttributeCondition{std::string(key), {}});
        json::append_value(condition.value, value);
    }
    return conditions;
}

void add_condition(MemberJobFilter& filter, std::string_view name, const json::JsonIn& value) {
    if (name == "status") {
        filter.status = known(parse<MemberStatus>(text_of_member(value)));
    } else if (name == "country") {
        filter.country = text_of_member(value);
    } else if (name == "q") {
        filter.prefix = text_of_member(value);
    } else if (name == "updated_since") {
        filter.updated_since = known(Timestamp::parse(text_of_member(value)));
    } else if (name == "imported_by") {
        filter.imported_by = known(ImportId::parse(text_of_member(value)));
    } else if (name == "attributes") {
        filter.attributes = attributes_of(value);
    } else {
        reject("has a condition that this version does not know");
    }
}

}  // namespace

std::string filter_json(const MemberJobFilter& filter) {
    std::string text;
    JsonWriter to(text);
    const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
        if (!value) return;
        to.key(name);
        to.string(*value);
    };
    to.begin_object();
    if (filter.status) add("status", std::string(text_of(*filter.status)));
    add("country", filter.country);
    add("q", filter.prefix);
    if (filter.updated_since) add("updated_since", filter.updated_since->text());
    if (filter.imported_by) add("imported_by", filter.imported_by->text());
    if (!filter.attributes.empty()) {
        to.key("attributes");
        to.begin_object();
        for (const AttributeCondition& condition : filter.attributes) {
            to.key(condition.key);
            to.raw(condition.value);
        }
        to.end_object();
    }
    to.end_object();
    return text;
}

MemberJobFilter parse_filter(std::string_view json) {
    json::JsonParser parser;
    const auto object = parser.parse_object(json);
    if (!object) reject("is not a JSON object");
    MemberJobFilter filter;
    for (const auto& [name, value] : *object) add_condition(filter, name, value);
    if (filter == MemberJobFilter()) reject("has no condition");
    // A condition that was overwritten or read differently would select other members.
    if (filter_json(filter) != json) reject("is not in the form in which it is written");
    return filter;
}

}  // namespace muster::rules
