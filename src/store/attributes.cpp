#include "store/attributes.hpp"

#include "base/json.hpp"

#include <utility>

namespace muster::store {

using db::OrgSql;

namespace {

std::string choices_json(const std::vector<std::string>& choices) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_array();
    for (const std::string& choice : choices) writer.string(choice);
    writer.end_array();
    return text;
}

std::vector<std::string> choices_of(const std::string& json) {
    Json::Value value;
    std::vector<std::string> choices;
    if (json.empty() || !parse_json(json, value) || !value.isArray()) return choices;
    for (const Json::Value& choice : std::as_const(value)) {
        if (choice.isString()) choices.push_back(choice.asString());
    }
    return choices;
}

std::vector<rules::AttributeRecord> records_of(db::Rows rows) {
    std::vector<rules::AttributeRecord> list;
    while (rows.next()) {
        rules::AttributeRecord& record = list.emplace_back();
        record.id = rows.id<AttributeId>(1);
        record.attribute.key = rows.bytes(2);
        record.attribute.label = rows.bytes(3);
        record.attribute.type =
            rules::attribute_type(rows.bytes(4)).value_or(rules::AttributeType::Text);
        record.attribute.choices = choices_of(rows.text_or_empty(5));
        record.attribute.enabled = rows.integer(6) != 0;
        record.created_at = rows.timestamp(7);
        record.updated_at = rows.timestamp(8);
    }
    return list;
}

}  // namespace

bool insert_attribute(db::OrgStore& org, const rules::AttributeRecord& record) {
    static constexpr OrgSql kInsert{
        "attributes.insert",
        "INSERT INTO attributes (organization_id, id, attribute_key, label, type, choices, "
        "enabled, "
        "created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?)"};
    const rules::Attribute& attribute = record.attribute;
    const std::string choices = attribute.choices.empty() ? "" : choices_json(attribute.choices);
    return db::unless_taken([&] {
        org.execute(kInsert, record.id, attribute.key, attribute.label, text_of(attribute.type),
                    db::Param::text_or_null(choices), attribute.enabled, record.created_at,
                    record.updated_at);
    });
}

std::int64_t count_attributes(db::OrgStore& org) {
    static constexpr OrgSql kCount{"attributes.count",
                                   "SELECT COUNT(*) FROM attributes WHERE organization_id = :org"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

std::vector<rules::AttributeRecord> list_attributes(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "attributes.list",
        "SELECT id, attribute_key, label, type, choices, enabled, created_at, updated_at "
        "FROM attributes WHERE organization_id = :org ORDER BY attribute_key"};
    return records_of(org.query(kList));
}

std::vector<rules::AttributeRecord> list_attributes_for_writing(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "attributes.list_shared",
        "SELECT id, attribute_key, label, type, choices, enabled, created_at, updated_at "
        "FROM attributes WHERE organization_id = :org ORDER BY attribute_key LOCK IN SHARE MODE"};
    return records_of(org.query(kList));
}

std::optional<rules::AttributeRecord> lock_attribute(db::OrgStore& org, std::string_view key) {
    static constexpr OrgSql kLock{
        "attributes.lock",
        "SELECT id, attribute_key, label, type, choices, enabled, created_at, updated_at "
        "FROM attributes WHERE organization_id = :org AND attribute_key = ? FOR UPDATE"};
    auto records = records_of(org.query(kLock, key));
    return records.empty() ? std::nullopt : std::optional(std::move(records.front()));
}

void update_attribute(db::OrgStore& org, const rules::AttributeRecord& record) {
    static constexpr OrgSql kUpdate{
        "attributes.update",
        "UPDATE attributes SET label = ?, type = ?, choices = ?, enabled = ?, updated_at = ? "
        "WHERE organization_id = :org AND attribute_key = ?"};
    const rules::Attribute& attribute = record.attribute;
    const std::string choices = attribute.choices.empty() ? "" : choices_json(attribute.choices);
    org.execute(kUpdate, attribute.label, text_of(attribute.type), db::Param::text_or_null(choices),
                attribute.enabled, record.updated_at, attribute.key);
}

std::vector<rules::AttributeRecord> page_attributes(db::OrgStore& org, std::string_view after,
                                                    int limit) {
    static constexpr OrgSql kPage{
        "attributes.page",
        "SELECT id, attribute_key, label, type, choices, enabled, created_at, updated_at "
        "FROM attributes WHERE organization_id = :org AND attribute_key > ? "
        "ORDER BY attribute_key LIMIT ?"};
    return records_of(org.query(kPage, after, limit));
}

bool set_attribute_enabled(db::OrgStore& org, std::string_view key, bool enabled, Timestamp now) {
    static constexpr OrgSql kFind{"attributes.find",
                                  "SELECT enabled FROM attributes WHERE organization_id = :org AND "
                                  "attribute_key = ? FOR UPDATE"};
    static constexpr OrgSql kUpdate{"attributes.set_enabled",
                                    "UPDATE attributes SET enabled = ?, updated_at = ? "
                                    "WHERE organization_id = :org AND attribute_key = ?"};
    if (!org.query(kFind, key).next()) return false;
    org.execute(kUpdate, enabled, now, key);
    return true;
}

bool is_attribute_used(db::OrgStore& org, std::string_view key) {
    // Reads members until it meets one: for questions that are seldom asked.
    static constexpr OrgSql kFind{"attributes.find_used",
                                  "SELECT 1 FROM members WHERE organization_id = :org AND "
                                  "JSON_CONTAINS_PATH(attributes, 'one', ?) LIMIT 1"};
    return org.query(kFind, "$.\"" + std::string(key) + "\"").next();
}

}  // namespace muster::store
