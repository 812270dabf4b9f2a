#include "store/attributes.hpp"

#include "base/unicode.hpp"
#include "rules/stored_json.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using rules::Attribute;

namespace {

// Older choices are stored as they were sent. Values, which are composed, are compared with them.
std::vector<std::string> composed_choices(std::optional<std::vector<std::string>> stored) {
    std::vector<std::string> choices;
    if (!stored) return choices;
    std::string whole;
    bool may_repeat = false;
    for (std::string& choice : *stored) {
        const std::string_view text = composed(choice, whole);
        if (text == choice) continue;
        choice = text;
        may_repeat = true;
    }
    if (!may_repeat) return *std::move(stored);
    for (std::string& choice : *stored) {
        if (std::ranges::find(choices, choice) == choices.end()) {
            choices.push_back(std::move(choice));
        }
    }
    return choices;
}

constexpr auto kAttribute = columns<rules::AttributeRecord>(
    column<&rules::AttributeRecord::id>("id"),
    column<&rules::AttributeRecord::attribute, &Attribute::key>("attribute_key"),
    column<&rules::AttributeRecord::attribute, &Attribute::label>("label"),
    column<&rules::AttributeRecord::attribute, &Attribute::type>("type"),
    converted<composed_choices, &rules::AttributeRecord::attribute, &Attribute::choices>("choices"),
    column<&rules::AttributeRecord::attribute, &Attribute::enabled>("enabled"),
    column<&rules::AttributeRecord::created_at>("created_at"),
    column<&rules::AttributeRecord::updated_at>("updated_at"));

constexpr auto kChanged = columns<ChangedMember>(
    column<&ChangedMember::updated_at>("updated_at"), column<&ChangedMember::user>("user_id"),
    column<&ChangedMember::bytes>("LENGTH(attributes)"));

}  // namespace

bool insert_attribute(db::OrgStore& org, const rules::AttributeRecord& record) {
    static constexpr OrgSql kInsert{
        "attributes.insert",
        "INSERT INTO attributes (organization_id, id, attribute_key, label, type, choices, "
        "enabled, "
        "created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?)"};
    const Attribute& attribute = record.attribute;
    const std::string choices =
        attribute.choices.empty() ? "" : rules::json_of_texts(attribute.choices);
    return db::try_unique([&] {
        org.execute(kInsert, record.id, attribute.key, attribute.label, text_of(attribute.type),
                    db::Param::text_or_null(choices), attribute.enabled, record.created_at,
                    record.updated_at);
    });
}

std::int64_t count_attributes(db::OrgStore& org) {
    static constexpr OrgSql kCount{"attributes.count",
                                   "SELECT COUNT(*) FROM attributes WHERE organization_id = :org"};
    return org.value<std::int64_t>(kCount);
}

std::int64_t sum_choice_bytes(db::OrgStore& org) {
    static constexpr OrgSql kSum{
        "attributes.sum_choice_bytes",
        "SELECT CAST(COALESCE(SUM(LENGTH(choices)), 0) AS SIGNED) "
        "FROM attributes FORCE INDEX (PRIMARY) WHERE organization_id = :org"};
    return org.value<std::int64_t>(kSum);
}

std::vector<rules::AttributeRecord> list_attributes(db::OrgStore& org) {
    static constexpr OrgSql kList{"attributes.list", kAttribute,
                                  "SELECT {columns} "
                                  "FROM attributes FORCE INDEX (attribute_key) "
                                  "WHERE organization_id = :org ORDER BY attribute_key"};
    return org.all(kList);
}

std::vector<rules::AttributeRecord> list_attributes_for_writing(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "attributes.list_shared", kAttribute,
        "SELECT {columns} "
        "FROM attributes FORCE INDEX (attribute_key) "
        "WHERE organization_id = :org ORDER BY attribute_key LOCK IN SHARE MODE"};
    return org.all(kList);
}

std::optional<rules::AttributeRecord> find_attribute(db::OrgStore& org, std::string_view key) {
    static constexpr OrgSql kFind{"attributes.find_record", kAttribute,
                                  "SELECT {columns} FROM attributes "
                                  "WHERE organization_id = :org AND attribute_key = ?"};
    return org.one(kFind, key);
}

std::optional<rules::AttributeRecord> lock_attribute(db::OrgStore& org, std::string_view key) {
    static constexpr OrgSql kLock{
        "attributes.lock", kAttribute,
        "SELECT {columns} "
        "FROM attributes WHERE organization_id = :org AND attribute_key = ? FOR UPDATE"};
    return org.one(kLock, key);
}

void update_attribute(db::OrgStore& org, const rules::AttributeRecord& record) {
    static constexpr OrgSql kUpdate{
        "attributes.update",
        "UPDATE attributes SET label = ?, type = ?, choices = ?, enabled = ?, updated_at = ? "
        "WHERE organization_id = :org AND attribute_key = ?"};
    const Attribute& attribute = record.attribute;
    const std::string choices =
        attribute.choices.empty() ? "" : rules::json_of_texts(attribute.choices);
    org.execute(kUpdate, attribute.label, text_of(attribute.type), db::Param::text_or_null(choices),
                attribute.enabled, record.updated_at, attribute.key);
}

std::vector<rules::AttributeRecord> page_attributes(db::OrgStore& org, std::string_view after,
                                                    int limit) {
    static constexpr OrgSql kPage{"attributes.page", kAttribute,
                                  "SELECT {columns} "
                                  "FROM attributes FORCE INDEX (attribute_key) "
                                  "WHERE organization_id = :org AND attribute_key > ? "
                                  "ORDER BY attribute_key LIMIT ?"};
    return org.all(kPage, after, limit);
}

void set_attribute_enabled(db::OrgStore& org, std::string_view key, bool enabled, Timestamp now) {
    static constexpr OrgSql kUpdate{"attributes.set_enabled",
                                    "UPDATE attributes SET enabled = ?, "
                                    "updated_at = GREATEST(?, updated_at + 1) "
                                    "WHERE organization_id = :org AND attribute_key = ?"};
    org.execute(kUpdate, enabled, now, key);
}

std::vector<ChangedMember> page_changed_members(db::OrgStore& org, Timestamp when,
                                                const UserId& after, int limit) {
    static constexpr OrgSql kPage{
        "attributes.page_changed", kChanged,
        "SELECT {columns} FROM members FORCE INDEX (updated_at) "
        "WHERE organization_id = :org AND ((updated_at = ? AND user_id > ?) OR updated_at > ?) "
        "ORDER BY updated_at, user_id LIMIT ?"};
    return org.all(kPage, when, after, when, limit);
}

bool is_attribute_used(db::OrgStore& org, std::string_view key, Timestamp since) {
    static constexpr OrgSql kFind{
        "attributes.find_used",
        "SELECT 1 FROM members FORCE INDEX (updated_at) WHERE organization_id = :org "
        "AND updated_at >= ? AND JSON_CONTAINS_PATH(attributes, 'one', ?) LIMIT 1"};
    return org.exists(kFind, since, "$.\"" + std::string(key) + "\"");
}

}  // namespace muster::store
