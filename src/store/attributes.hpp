// The attribute registry's rows, one set per organization.
#pragma once

#include "db/transaction.hpp"
#include "rules/attributes.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// False when the key is taken.
bool insert_attribute(db::OrgStore& org, const rules::AttributeRecord& record);
// All of the organization's, disabled ones too, by key.
std::int64_t count_attributes(db::OrgStore& org);
std::vector<rules::AttributeRecord> list_attributes(db::OrgStore& org);
// The same for one who writes values: the rows stay as they are until the transaction ends.
std::vector<rules::AttributeRecord> list_attributes_for_writing(db::OrgStore& org);
// One row, which nobody else reads for writing or changes until the transaction ends.
std::optional<rules::AttributeRecord> lock_attribute(db::OrgStore& org, std::string_view key);
// Writes all of a locked row that can change.
void update_attribute(db::OrgStore& org, const rules::AttributeRecord& record);
// A page by key, starting behind `after` ("" = at the beginning).
std::vector<rules::AttributeRecord> page_attributes(db::OrgStore& org, std::string_view after,
                                                    int limit);
// False when there is no such key.
bool set_attribute_enabled(db::OrgStore& org, std::string_view key, bool enabled, Timestamp now);

// Whether some member has a value of that attribute (`key` well-formed).
bool is_attribute_used(db::OrgStore& org, std::string_view key);

}  // namespace muster::store
