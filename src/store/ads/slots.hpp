// Ad slots: positions on an organization's pages.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::store {

// The number of slots of the organization, whose rows are locked: another count waits until the
// transaction ends.
std::int64_t lock_and_count_ad_slots(db::OrgStore& org);
// False if the slug is already used.
bool insert_ad_slot(db::OrgStore& org, const rules::AdSlot& slot);
std::optional<rules::AdSlot> find_ad_slot(db::OrgStore& org, SlotId id);
// Locked until the transaction ends.
std::optional<rules::AdSlot> lock_ad_slot(db::OrgStore& org, SlotId id);
// Ordered by id, after `after`.
std::vector<rules::AdSlot> page_ad_slots(db::OrgStore& org, SlotId after, int limit);
// Writes all fields of a locked slot that can change. False if the slug is already used.
bool update_ad_slot(db::OrgStore& org, const rules::AdSlot& slot);
void delete_ad_slot(db::OrgStore& org, SlotId id);
// The number of campaigns in the slot, including paused and ended ones. For a locked slot: the
// current number.
std::int64_t count_campaigns_in_slot(db::OrgStore& org, SlotId id);

// The existing slots among these (one or more), locked until the transaction ends.
std::vector<SlotId> lock_ad_slots(db::OrgStore& org, std::span<const SlotId> ids);

}  // namespace muster::store
