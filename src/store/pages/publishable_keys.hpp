// Tracking and content keys.
#pragma once

#include "db/transaction.hpp"
#include "rules/pages/publishable_keys.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The keys with these tokens, revoked and expired ones too.
std::vector<rules::PublishableKey> find_publishable_keys(db::Tx& tx,
                                                         std::span<const std::string> tokens);

void insert_publishable_key(db::OrgStore& org, const rules::PublishableKey& key);
// Those of both kinds that are not revoked.
std::int64_t count_publishable_keys(db::OrgStore& org);
// Of one kind, by id behind `after`; without those that were revoked before `shown_since`.
std::vector<rules::PublishableKey> page_publishable_keys(db::OrgStore& org,
                                                         rules::PublishableKeyKind kind,
                                                         PublishableKeyId after,
                                                         Timestamp shown_since, int limit);
// Locked until the transaction ends. One of the other kind is none.
std::optional<rules::PublishableKey> lock_publishable_key(db::OrgStore& org,
                                                          rules::PublishableKeyKind kind,
                                                          PublishableKeyId id);
// Writes what can be changed: name, origins, rates and the end.
void write_publishable_key(db::OrgStore& org, const rules::PublishableKey& key);
// False when there is no such key of that kind or it was revoked before.
bool revoke_publishable_key(db::OrgStore& org, rules::PublishableKeyKind kind, PublishableKeyId id,
                            Timestamp now);

// Writes last_used_at unless it is `unless_since` or later.
void touch_publishable_key(db::OrgStore& org, PublishableKeyId id, Timestamp now,
                           Timestamp unless_since);

}  // namespace muster::store
