// Tracking and content keys.
#pragma once

#include "db/transaction.hpp"
#include "rules/publishable_keys.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The keys with these tokens, revoked and expired ones too.
std::vector<rules::PublishableKey> find_publishable_keys(db::Tx& tx,
                                                         std::span<const std::string> tokens);

void insert_publishable_key(db::OrgStore& org, const rules::PublishableKey& key);

// Writes last_used_at unless it is `unless_since` or later.
void touch_publishable_key(db::OrgStore& org, PublishableKeyId id, Timestamp now,
                           Timestamp unless_since);

}  // namespace muster::store
