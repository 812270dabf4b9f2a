#include "service/attributes.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/stored_json.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/attributes.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::Attribute;
using rules::AttributeType;

// A change of the type examines at most this many members, with this many bytes of attributes.
// Their sizes are read first. The largest member has some 800 KiB.
constexpr std::size_t kMostExaminedMembers = 10'000;
constexpr std::int64_t kMostExaminedBytes = std::int64_t{4} << 20U;
constexpr int kMembersPerRead = 50;
constexpr Milliseconds kClockDifference = std::chrono::hours(1);
constexpr std::size_t kLongestChoice = 255;
constexpr std::size_t kLongestLabel = 255;

// Specification 2.2, with the choices of docs/api/attributes.md "Attributes".
const std::vector<Attribute>& starter_catalog() {
    static const std::vector<Attribute> kCatalog = {
        {"phone", "Phone", AttributeType::Text, {}, false},
        {"gender",
         "Gender",
         AttributeType::SingleChoice,
         {"female", "male", "non_binary", "undisclosed"},
         false},
        {"address.line1", "Address", AttributeType::Text, {}, false},
        {"address.city", "City", AttributeType::Text, {}, false},
        {"address.postcode", "Postcode", AttributeType::Text, {}, false},
        {"favourite_team", "Favourite team", AttributeType::Text, {}, false},
        {"shirt_size",
         "Shirt size",
         AttributeType::SingleChoice,
         {"XS", "S", "M", "L", "XL", "XXL", "XXXL"},
         false},
        {"emergency_contact", "Emergency contact", AttributeType::Text, {}, false},
    };
    return kCatalog;
}

rules::AttributeRegistry registry_of(std::vector<rules::AttributeRecord> records) {
    std::vector<Attribute> attributes;
    attributes.reserve(records.size());
    for (auto& record : records) attributes.push_back(std::move(record.attribute));
    return rules::AttributeRegistry(std::move(attributes));
}

bool has_choices(AttributeType type) {
    return type == AttributeType::SingleChoice || type == AttributeType::MultiChoice;
}

bool is_text(std::string_view text, std::size_t most) {
    return !text.empty() && is_utf8(text) && utf8_length(text) <= most;
}

void check_choices(const Attribute& attribute, Faults& faults) {
    const auto& choices = attribute.choices;
    const std::string of_type = " for the type " + std::string(text_of(attribute.type));
    if (has_choices(attribute.type) && choices.empty()) {
        faults.add("choices", FieldCode::Required, "is required" + of_type);
    } else if (!has_choices(attribute.type) && !choices.empty()) {
        faults.add("choices", FieldCode::InvalidValue,
                   "is not allowed" + of_type + "; leave it out");
    } else if (choices.size() > kMostChoices) {
        return faults.add("choices", FieldCode::TooLong, longest(kMostChoices));
    }
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::string path = "choices[" + std::to_string(i) + "]";
        if (!is_text(choices[i], kLongestChoice)) {
            faults.add(path, FieldCode::InvalidValue, "is not valid; use 1 to 255 characters");
        } else if (!seen.insert(choices[i]).second) {
            faults.add(path, FieldCode::Duplicate, "is given twice; send each choice once");
        }
    }
}

// The faults of an attribute; empty if it is valid.
Faults faults_of(const Attribute& attribute) {
    Faults faults;
    if (!rules::is_attribute_key(attribute.key)) {
        faults.add("key", FieldCode::InvalidValue,
                   "is not valid; use parts of lower-case letters, digits and _ that begin with a "
                   "letter, joined by dots");
    }
    // A label that defaults to the key has the key's fault.
    if (attribute.label != attribute.key && !is_text(attribute.label, kLongestLabel)) {
        faults.add("label", FieldCode::InvalidValue, "is not valid; use 1 to 255 characters");
    }
    check_choices(attribute, faults);
    return faults;
}

// For the operator's new attributes. The API's decoder has the same check for what a request sends;
// a stored label with a control character must not prevent a change of another field.
void reject_control(const Attribute& attribute) {
    if (has_control(attribute.label)) {
        throw std::invalid_argument("the label has a control character; remove it");
    }
    if (std::ranges::any_of(attribute.choices, has_control)) {
        throw std::invalid_argument("a choice has a control character; remove it");
    }
}

// For the operator.
void reject_first(const Faults& faults) {
    if (faults.empty()) return;
    const Fault& fault = faults.list().front();
    throw std::invalid_argument(fault.path + " " + fault.message);
}

Attribute changed(Attribute attribute, const AttributeChange& change) {
    if (change.label) attribute.label = *change.label;
    if (change.choices) {
        attribute.choices = *change.choices;
    } else if (!has_choices(change.type)) {
        attribute.choices.clear();
    }
    attribute.type = change.type;
    attribute.enabled = change.enabled;
    return attribute;
}

// Every write of values reads and locks the registry, so its size is limited.
void reject_too_many(db::OrgStore& org, Timestamp now, Faults& faults) {
    lock_counts(org, now);
    if (store::count_attributes(org) < kMostAttributes) return;
    faults.add("key", FieldCode::OutOfRange,
               "is new, and the organization already has " + std::to_string(kMostAttributes) +
                   " attributes; change one of them");
}

std::int64_t choice_bytes(const Attribute& attribute) {
    return attribute.choices.empty()
               ? 0
               : static_cast<std::int64_t>(rules::json_of_texts(attribute.choices).size());
}

// The registry is also one reply and read by every write of values, so its size is limited. Fewer
// bytes than before are accepted at any size of the others.
void reject_too_many_choices(db::OrgStore& org, const Attribute& attribute,
                             std::int64_t bytes_before, Faults& faults) {
    const std::int64_t bytes = choice_bytes(attribute);
    if (bytes <= bytes_before) return;
    const std::int64_t all = store::sum_choice_bytes(org) - bytes_before + bytes;
    if (all <= kMostChoiceBytes) return;
    faults.add("choices", FieldCode::TooLong,
               "is too long: all attributes together would have " + std::to_string(all) +
                   " bytes of choices, as JSON, and an organization has at most " +
                   std::to_string(kMostChoiceBytes) +
                   "; send fewer or shorter choices, or remove choices of other attributes");
}

// Why the members that changed since that time are too many to examine; nullptr if they are not.
const char* reason_not_to_examine(db::OrgStore& org, Timestamp since) {
    std::size_t members = 0;
    std::int64_t bytes = 0;
    // No user has the zero id, so the first page includes that very millisecond.
    store::ChangedMember last{since, UserId()};
    for (bool has_more = true; has_more;) {
        const auto page =
            store::page_changed_members(org, last.updated_at, last.user, kMembersPerRead);
        for (const store::ChangedMember& member : page) bytes += member.bytes;
        members += page.size();
        if (bytes > kMostExaminedBytes) {
            return "the members that changed since an hour before the attribute was created have "
                   "more than 4 MiB of attributes; disable it and add one with another key";
        }
        if (members > kMostExaminedMembers) {
            return "more than 10,000 members changed since an hour before the attribute was "
                   "created; disable it and add one with another key";
        }
        has_more = page.size() == kMembersPerRead;
        if (has_more) last = page.back();
    }
    return nullptr;
}

// Only members that changed since the attribute was created can have a value of it. They get no
// values in the meantime: writers of values wait for the lock on the attribute.
const char* reason_to_keep_type(db::OrgStore& org, const rules::AttributeRecord& record) {
    const std::string& key = record.attribute.key;
    if (is_starter_attribute(key)) return "the type of a starter attribute is fixed";
    const Timestamp since = record.created_at - kClockDifference;
    if (const char* reason = reason_not_to_examine(org, since)) return reason;
    return store::is_attribute_used(org, key, since) ? "members have values of this attribute"
                                                     : nullptr;
}

void reject_change_of_type(db::OrgStore& org, const rules::AttributeRecord& record) {
    const char* reason = reason_to_keep_type(org, record);
    if (reason) throw Error(ErrorCode::InvalidState).detail("reason", reason);
}

}  // namespace

rules::AttributeRegistry attribute_registry(db::Tx& tx, OrgId organization) {
    db::OrgStore org(tx, organization);
    return registry_of(store::list_attributes(org));
}

rules::AttributeRegistry attribute_registry(Context& context, OrgId organization) {
    return context.database.autocommit(
        [&](db::Tx& tx) { return attribute_registry(tx, organization); });
}

rules::AttributeRegistry attribute_registry_for_writing(db::Tx& tx, OrgId organization) {
    db::OrgStore org(tx, organization);
    return registry_of(store::list_attributes_for_writing(org));
}

void add_starter_attributes(OrgTransaction& transaction, bool are_enabled) {
    db::OrgStore org(transaction.tx, transaction.org());
    for (Attribute attribute : starter_catalog()) {
        attribute.enabled = are_enabled;
        store::insert_attribute(
            org, {AttributeId::create(), attribute, transaction.now, transaction.now});
    }
}

bool is_starter_attribute(std::string_view key) {
    return std::any_of(starter_catalog().begin(), starter_catalog().end(),
                       [&](const Attribute& attribute) { return attribute.key == key; });
}

std::vector<rules::AttributeRecord> list_attributes(Context& context, OrgId organization,
                                                    std::string_view after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_attributes(org, after, limit);
    });
}

rules::AttributeRecord put_attribute(OrgTransaction& transaction, std::string_view key,
                                     const AttributeChange& change, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    // An invalid key is not sent to the database.
    const auto before =
        rules::is_attribute_key(key) ? store::lock_attribute(org, key) : std::nullopt;
    check_version(check, before ? std::optional(before->updated_at) : std::nullopt);
    rules::AttributeRecord record{AttributeId::create(), {}, transaction.now, transaction.now};
    record.attribute.key = record.attribute.label = key;
    if (before) record = *before;
    record.attribute = changed(record.attribute, change);
    Faults faults = faults_of(record.attribute);
    if (!before) reject_too_many(org, transaction.now, faults);
    if (faults.empty()) {
        reject_too_many_choices(org, record.attribute, before ? choice_bytes(before->attribute) : 0,
                                faults);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    if (!before) {
        if (!store::insert_attribute(org, record)) {
            throw db::RetryTransaction{"the attribute was inserted concurrently"};
        }
    } else {
        if (before->attribute.type != change.type) reject_change_of_type(org, *before);
        if (record.attribute == before->attribute) return record;
        record.updated_at = next_version(before->updated_at, transaction.now);
        store::update_attribute(org, record);
    }
    audit(transaction, "attribute.changed", key);
    return record;
}

std::optional<rules::AttributeRecord> find_attribute(Context& context, OrgId organization,
                                                     std::string_view key) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_attribute(org, key);
    });
}

void add_attribute(Context& context, OrgId organization, const Attribute& attribute) {
    reject_first(faults_of(attribute));
    reject_control(attribute);
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        Faults too_many;
        reject_too_many(org, now, too_many);
        reject_too_many_choices(org, attribute, 0, too_many);
        reject_first(too_many);
        if (!store::insert_attribute(org, {AttributeId::create(), attribute, now, now})) {
            throw std::invalid_argument("the organization already has an attribute with this key");
        }
        audit_operator(tx, organization, "attribute.added", attribute.key, {}, now);
    });
}

bool enable_attribute(Context& context, OrgId organization, std::string_view key, bool enabled) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        const auto record = store::lock_attribute(org, key);
        if (!record) return false;
        if (record->attribute.enabled == enabled) return true;
        store::set_attribute_enabled(org, key, enabled, now);
        const char* action = enabled ? "attribute.enabled" : "attribute.disabled";
        audit_operator(tx, organization, action, key, {}, now);
        return true;
    });
}

}  // namespace muster::service
