// How many records of each kind an organization has, for its usage.
#pragma once

#include "db/transaction.hpp"

namespace muster::store {

// Each counts up to `most` with an index.
std::int64_t count_used_modules(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_publishable_keys(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_webhook_endpoints(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_attributes(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_ad_slots(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_ad_campaigns(db::OrgStore& org, std::int64_t most);
std::int64_t count_used_connections(db::OrgStore& org, std::int64_t most);
// Deliveries of webhooks that are not finished.
std::int64_t count_waiting_deliveries(db::OrgStore& org, std::int64_t most);

}  // namespace muster::store
