// Tracking and content keys.
#pragma once

#include "db/transaction.hpp"
#include "rules/pages/publishable_keys.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The keys with these tokens, even if they are revoked or expired.
std::vector<rules::PublishableKey> find_publishable_keys(db::Tx& tx,
                                                         std::span<const std::string> tokens);

void insert_publishable_key(db::OrgStore& org, const rules::PublishableKey& key);
// The number of keys of both kinds that are not revoked.
std::int64_t count_publishable_keys(db::OrgStore& org);
// Keys of one kind, ordered by id, after `after`, without keys revoked before `shown_since`.
std::vector<rules::PublishableKey> page_publishable_keys(db::OrgStore& org,
                                                         rules::PublishableKeyKind kind,
                                                         PublishableKeyId after,
                                                         Timestamp shown_since, int limit);
// nullopt for a key of the other kind.
std::optional<rules::PublishableKey> find_publishable_key(db::OrgStore& org,
                                                          rules::PublishableKeyKind kind,
                                                          PublishableKeyId id);
// The same, locked until the transaction ends.
std::optional<rules::PublishableKey> lock_publishable_key(db::OrgStore& org,
                                                          rules::PublishableKeyKind kind,
                                                          PublishableKeyId id);
// Writes the fields that can change: name, origins, rates and expires_at.
void write_publishable_key(db::OrgStore& org, const rules::PublishableKey& key);
// False if no key of this kind has this id, or if it was already revoked.
bool revoke_publishable_key(db::OrgStore& org, rules::PublishableKeyKind kind, PublishableKeyId id,
                            Timestamp now);

// Locks the record to set last_used_at. False if last_used_at is already `unless_since` or later,
// or if another transaction locks the record.
bool lock_publishable_key_to_touch(db::OrgStore& org, PublishableKeyId id, Timestamp unless_since);
void touch_publishable_key(db::OrgStore& org, PublishableKeyId id, Timestamp now);

}  // namespace muster::store
