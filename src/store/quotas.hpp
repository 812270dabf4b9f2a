// What the organizations used on each day (table organization_days).
#pragma once

#include "db/transaction.hpp"
#include "rules/quotas.hpp"

namespace muster::store {

// Adds to one of the rows of the day, unless the organization was deleted. Waits for a transaction
// that has added to the same slot.
void add_quota_use(db::OrgStore& org, rules::Quota quota, std::int64_t day, int slot,
                   std::int64_t amount);
// The sum of all slots.
std::int64_t quota_use(db::OrgStore& org, rules::Quota quota, std::int64_t day);
// Deletes at most `limit` rows of days before the one of `until`. Returns their number.
std::int64_t purge_quota_uses(db::Tx& tx, Timestamp until, int limit);

}  // namespace muster::store
