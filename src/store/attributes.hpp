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
// All attributes of the organization, including disabled ones, ordered by key.
std::int64_t count_attributes(db::OrgStore& org);
std::vector<rules::AttributeRecord> list_attributes(db::OrgStore& org);
// The same for a caller that writes values: the rows cannot change until the transaction ends.
std::vector<rules::AttributeRecord> list_attributes_for_writing(db::OrgStore& org);
// One row, locked exclusively until the transaction ends.
std::optional<rules::AttributeRecord> find_attribute(db::OrgStore& org, std::string_view key);
std::optional<rules::AttributeRecord> lock_attribute(db::OrgStore& org, std::string_view key);
// Writes all fields of a locked row that can change.
void update_attribute(db::OrgStore& org, const rules::AttributeRecord& record);
// Ordered by key, after `after` ("" = from the start).
std::vector<rules::AttributeRecord> page_attributes(db::OrgStore& org, std::string_view after,
                                                    int limit);
// False if the key does not exist.
bool set_attribute_enabled(db::OrgStore& org, std::string_view key, bool enabled, Timestamp now);

// The members that changed since that time, counted up to `most`.
std::int64_t count_changed_members(db::OrgStore& org, Timestamp since, std::int64_t most);
// Whether one of these members has a value of the attribute. Reads all of them, so count them
// first.
bool is_attribute_used(db::OrgStore& org, std::string_view key, Timestamp since);

}  // namespace muster::store
