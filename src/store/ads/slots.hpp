// Ad slots: the places on an organization's pages.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::store {

// How many the organization has; nobody adds one until the transaction ends.
std::int64_t count_ad_slots_for_adding(db::OrgStore& org);
// False when the slug is taken.
bool insert_ad_slot(db::OrgStore& org, const rules::AdSlot& slot);
std::optional<rules::AdSlot> find_ad_slot(db::OrgStore& org, SlotId id);
// Locked until the transaction ends.
std::optional<rules::AdSlot> lock_ad_slot(db::OrgStore& org, SlotId id);
// By id behind `after`.
std::vector<rules::AdSlot> page_ad_slots(db::OrgStore& org, SlotId after, int limit);
// Writes all of a locked slot that can change. False when the slug is taken.
bool update_ad_slot(db::OrgStore& org, const rules::AdSlot& slot);
void delete_ad_slot(db::OrgStore& org, SlotId id);
// Campaigns that run in it, paused and ended ones too; of a locked slot, as they are now.
std::int64_t count_campaigns_in_slot(db::OrgStore& org, SlotId id);

// Those of these slots (1 or more) that there are, locked until the transaction ends.
std::vector<SlotId> lock_ad_slots(db::OrgStore& org, std::span<const SlotId> ids);

}  // namespace muster::store
