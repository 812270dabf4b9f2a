#include "rules/ads/ads.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "json/json_body.hpp"
#include "rules/ads/targeting_record.hpp"
#include "rules/modules/manifest.hpp"

#include <algorithm>
#include <set>

namespace muster::rules {
namespace {

template <class Value>
void validate_distinct(const std::vector<Value>& values, const std::string& path, Faults& faults) {
    std::set<Value> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (seen.insert(values[i]).second) continue;
        faults.add(path + "[" + std::to_string(i) + "]", FieldCode::Duplicate);
    }
}

// A request for an ad separates the tags of its page by commas, so none of them contains one.
void validate_tags(const std::vector<std::string>& tags, Faults& faults) {
    validate_distinct(tags, "targeting.tags", faults);
    for (std::size_t i = 0; i < tags.size(); ++i) {
        if (tags[i].find(',') == std::string::npos) continue;
        faults.add(
            "targeting.tags[" + std::to_string(i) + "]", FieldCode::InvalidValue,
            "contains a comma, which separates the tags of a page; use one tag for each part");
    }
}

AttributeValue::Kind kind_of(const Json::Value& value) {
    if (value.isString()) return AttributeValue::Kind::String;
    if (value.isBool()) return AttributeValue::Kind::Boolean;
    return value.isNumeric() ? AttributeValue::Kind::Number : AttributeValue::Kind::Other;
}

// For a multiple choice, targeting names one value, which the member must have.
bool can_have(const AttributeRegistry& registry, const Attribute& attribute,
              const AttributeValue& value) {
    if (attribute.type != AttributeType::MultiChoice) {
        return registry.check(attribute.key, value) == AttributeResult::Good;
    }
    return value.kind == AttributeValue::Kind::String &&
           std::find(attribute.choices.begin(), attribute.choices.end(), value.text) !=
               attribute.choices.end();
}

// No member has an empty text.
bool is_empty_text(const AttributeValue& value) {
    return value.kind == AttributeValue::Kind::String && value.text.empty();
}

// Reads the list of texts, which may be missing. False if the member is something else.
bool read_list(const json::JsonObject& object, std::string_view name,
               std::vector<std::string>& to) {
    const auto member = object.find(name);
    if (!member) return true;
    const auto list = member->array();
    if (!list) return false;
    for (const json::JsonIn& entry : *list) {
        const auto text = entry.string();
        if (!text) return false;
        to.emplace_back(*text);
    }
    return true;
}

}  // namespace

std::string date_of_ad_day(std::int64_t day) {
    return Date::of(Timestamp() + std::chrono::days(day)).text();
}

bool is_slot_slug(std::string_view text) {
    return is_module_slug(text);
}

void validate_campaign(const AdCampaign& campaign, Faults& faults) {
    if (campaign.ends_at && *campaign.ends_at <= campaign.starts_at) {
        faults.add("ends_at", FieldCode::OutOfRange, "is not after starts_at; use a later time");
    }
    validate_distinct(campaign.slot_ids, "slot_ids", faults);
}

void validate_targeting(const Targeting& targeting, const AttributeRegistry& registry,
                        Faults& faults) {
    validate_distinct(targeting.countries, "targeting.countries", faults);
    validate_distinct(targeting.locales, "targeting.locales", faults);
    validate_tags(targeting.tags, faults);
    Json::Value values;
    if (!parse_json(targeting.attributes, values) || !values.isObject()) {
        faults.add("targeting.attributes", FieldCode::WrongType);
        return;
    }
    for (const std::string& key : values.getMemberNames()) {
        const std::string path = "targeting.attributes." + key;
        const std::string text = values[key].isString() ? values[key].asString() : "";
        const AttributeValue value{kind_of(values[key]), text, {}};
        const Attribute* attribute = registry.find(key);
        if (value.kind == AttributeValue::Kind::Other) {
            faults.add(path, FieldCode::WrongType);
        } else if (!attribute) {
            faults.add(path, FieldCode::UnknownAttribute, {.allowed = registry.enabled_keys()});
        } else if (is_empty_text(value)) {
            faults.add(path, FieldCode::Required);
        } else if (!can_have(registry, *attribute, value)) {
            faults.add(path, FieldCode::InvalidValue, value_limits(*attribute));
        }
    }
}

void validate_creative(const AdCreative& creative, Faults& faults) {
    const bool is_image = creative.kind == CreativeKind::Image;
    const auto check = [&](const char* name, bool is_given, bool is_needed) {
        if (is_given == is_needed) return;
        faults.add(name, is_needed ? FieldCode::Required : FieldCode::InvalidValue,
                   is_needed ? "is required for this kind of creative"
                             : "is not allowed for this kind of creative; send null");
    };
    check("image_url", creative.image_url.has_value(), is_image);
    check("html", creative.html.has_value(), !is_image);
}

std::string normalized_attributes(const std::string& document) {
    json::JsonParser parser;
    const auto sent = parser.parse_object(document);
    if (!sent) return document;
    std::string text;
    JsonWriter to(text);
    to.begin_object();
    for (const auto& [key, value] : *sent) {
        to.key(key);
        if (const auto words = value.string()) {
            std::string whole;
            to.string(composed(trimmed(*words), whole));
        } else {
            to.raw(json::minified(value));
        }
    }
    to.end_object();
    return text;
}

bool Targeting::operator==(const Targeting& other) const {
    return countries == other.countries && locales == other.locales && tags == other.tags &&
           json::is_same_json(attributes, other.attributes);
}

std::string targeting_document(const Targeting& targeting) {
    if (targeting == Targeting{}) return "{}";
    return to_json(JsonType<Targeting>::kRecord, targeting);
}

std::optional<Targeting> targeting_of(std::string_view document) {
    Targeting targeting;
    if (document == "{}") return targeting;
    json::JsonParser parser;
    const auto json = parser.parse_object(document);
    const bool is_read = json && read_list(*json, "countries", targeting.countries) &&
                         read_list(*json, "locales", targeting.locales) &&
                         read_list(*json, "tags", targeting.tags);
    const auto attributes = is_read ? json->find("attributes") : std::nullopt;
    if (!attributes || !attributes->is_object()) return std::nullopt;
    // Older tags are stored as they were sent.
    for (std::string& tag : targeting.tags) compose(tag);
    targeting.attributes = json::minified(*attributes);
    return targeting;
}

}  // namespace muster::rules
