#include "rules/member_jobs/filter.hpp"

#include "base/json.hpp"

#include <stdexcept>

namespace muster::rules {
namespace {

// Throws unless there is a value.
template <class Value>
Value known(std::optional<Value> value) {
    if (!value) throw std::invalid_argument("the stored filter is not valid");
    return std::move(*value);
}

// The JSON text as attribute_conditions() writes it.
std::string value_text(const Json::Value& value) {
    if (!value.isString()) return json_text(value);
    std::string text;
    JsonWriter(text).string(value.asString());
    return text;
}

std::vector<AttributeCondition> attributes_of(const Json::Value& object) {
    std::vector<AttributeCondition> conditions;
    for (const std::string& key : object.getMemberNames()) {
        conditions.push_back({key, value_text(object[key])});
    }
    return conditions;
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
    Json::Value object;
    if (!parse_json(json, object) || !object.isObject()) {
        throw std::invalid_argument("the stored filter is not a JSON object");
    }
    const auto text = [&](const char* name) {
        return object.isMember(name) ? std::optional(object[name].asString()) : std::nullopt;
    };
    MemberJobFilter filter;
    if (const auto status = text("status")) filter.status = known(parse<MemberStatus>(*status));
    filter.country = text("country");
    filter.prefix = text("q");
    if (const auto since = text("updated_since")) {
        filter.updated_since = known(Timestamp::parse(*since));
    }
    if (const auto job = text("imported_by")) filter.imported_by = known(ImportId::parse(*job));
    if (object.isMember("attributes")) filter.attributes = attributes_of(object["attributes"]);
    return filter;
}

}  // namespace muster::rules
