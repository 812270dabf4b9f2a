// The attribute registry's rows, one set per organization.
#pragma once

#include "db/transaction.hpp"
#include "rules/attributes.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// False if the key is already used.
bool insert_attribute(db::OrgStore& org, const rules::AttributeRecord& record);
std::int64_t count_attributes(db::OrgStore& org);
// The size of the choices of all attributes, as JSON.
std::int64_t sum_choice_bytes(db::OrgStore& org);
// All attributes of the organization, including disabled ones, ordered by key.
std::vector<rules::AttributeRecord> list_attributes(db::OrgStore& org);
// The same for a caller that writes values: the rows cannot change until the transaction ends.
std::vector<rules::AttributeRecord> list_attributes_for_writing(db::OrgStore& org);
std::optional<rules::AttributeRecord> find_attribute(db::OrgStore& org, std::string_view key);
// The same, locked exclusively until the transaction ends.
std::optional<rules::AttributeRecord> lock_attribute(db::OrgStore& org, std::string_view key);
// Writes all fields of a locked row that can change.
void update_attribute(db::OrgStore& org, const rules::AttributeRecord& record);
// Ordered by key, after `after` ("" = from the start).
std::vector<rules::AttributeRecord> page_attributes(db::OrgStore& org, std::string_view after,
                                                    int limit);
// Writes one field of a locked row.
void set_attribute_enabled(db::OrgStore& org, std::string_view key, bool enabled, Timestamp now);

// Members that changed after `when`, or at that time and with a greater id than `after`, ordered by
// both. `bytes`: the size of their attributes.
struct ChangedMember {
    Timestamp updated_at;
    UserId user;
    std::int64_t bytes = 0;
};
std::vector<ChangedMember> page_changed_members(db::OrgStore& org, Timestamp when,
                                                const UserId& after, int limit);
// Whether a member that changed since that time has a value of the attribute. Reads the attributes
// of all of them, so measure them first.
bool is_attribute_used(db::OrgStore& org, std::string_view key, Timestamp since);

}  // namespace muster::store
