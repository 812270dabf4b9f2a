#include "rules/ads/ads.hpp"

#include "rules/attributes.hpp"
#include "rules/modules/manifest.hpp"
#include "rules/origins.hpp"

#include <algorithm>
#include <set>

namespace muster::rules {
namespace {

constexpr auto kTargetingDocument = record<Targeting>(
    "Targeting",
    field<&Targeting::countries>(
        "countries", "Countries of the visitor, of which one must match. Empty: any.", R"(["GB"])"),
    field<&Targeting::locales>(
        "locales", "Locales, of which one must match; de also matches de-AT. Empty: any.",
        R"(["en"])"),
    field<&Targeting::tags>("tags", "Tags of the page, of which one must match. Empty: any.",
                            R"(["football"])"),
    RecordField<Targeting>{"attributes",
                           "Values that the member must have, by attribute key. Empty: any.",
                           [](JsonWriter& to, const Targeting& of) { to.raw(of.attributes); },
                           JsonType<RawJson>::schema});

template <class Value>
void validate_distinct(const std::vector<Value>& values, const std::string& path, Faults& faults) {
    std::set<Value> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (seen.insert(values[i]).second) continue;
        faults.add(path + "[" + std::to_string(i) + "]", FieldCode::Duplicate);
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

bool read_list(const Json::Value& list, std::vector<std::string>& to) {
    if (!list.isNull() && !list.isArray()) return false;
    for (const Json::Value& entry : list) {
        if (!entry.isString()) return false;
        to.push_back(entry.asString());
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

bool is_web_url(std::string_view url) {
    const bool is_plain = std::all_of(url.begin(), url.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '\\' && c != '"' && c != '<' && c != '>';
    });
    return is_plain && url.size() <= kLongestAdUrl && origin_of_url(url).has_value();
}

void validate_campaign(const AdCampaign& campaign, Faults& faults) {
    if (campaign.ends_at && *campaign.ends_at <= campaign.starts_at) {
        faults.add("ends_at", FieldCode::OutOfRange, "It must be later than starts_at.");
    }
    validate_distinct(campaign.slot_ids, "slot_ids", faults);
}

void validate_targeting(const Targeting& targeting, const AttributeRegistry& registry,
                        Faults& faults) {
    validate_distinct(targeting.countries, "targeting.countries", faults);
    validate_distinct(targeting.locales, "targeting.locales", faults);
    validate_distinct(targeting.tags, "targeting.tags", faults);
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
                   is_needed ? "This kind of creative requires it."
                             : "This kind of creative does not allow it.");
    };
    check("image_url", creative.image_url.has_value(), is_image);
    check("html", creative.html.has_value(), !is_image);
}

std::string targeting_document(const Targeting& targeting) {
    if (targeting == Targeting{}) return "{}";
    return to_json(kTargetingDocument, targeting);
}

std::optional<Targeting> targeting_of(std::string_view document) {
    Targeting targeting;
    if (document == "{}") return targeting;
    Json::Value json;
    if (!parse_json(document, json) || !json.isObject()) return std::nullopt;
    const bool is_read = read_list(json["countries"], targeting.countries) &&
                         read_list(json["locales"], targeting.locales) &&
                         read_list(json["tags"], targeting.tags);
    const Json::Value& attributes = json["attributes"];
    if (!is_read || !attributes.isObject()) return std::nullopt;
    targeting.attributes = json_text(attributes);
    return targeting;
}

}  // namespace muster::rules
