// API keys of organizations. The database holds only the SHA-256 of a secret.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/api_keys.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

void insert_api_key(db::OrgStore& org, const rules::ApiKey& key, std::string_view secret_hash);
struct FoundApiKey {
    std::string secret_hash;
    rules::ApiKey key;
};
// The keys with these hashes (one or more), even if they are revoked or expired.
std::vector<FoundApiKey> find_api_keys(db::Tx& tx, std::span<const std::string> secret_hashes);
// The keys that are neither revoked nor expired, counted up to `most`.
std::int64_t count_live_api_keys(db::OrgStore& org, Timestamp now, std::int64_t most);
// Ordered by id, after `after`, without keys that were revoked or expired before `shown_since`.
std::vector<rules::ApiKey> page_api_keys(db::OrgStore& org, ApiKeyId after, Timestamp shown_since,
                                         int limit);
std::optional<rules::ApiKey> find_api_key(db::OrgStore& org, ApiKeyId id);
// Locked until the transaction ends.
std::optional<rules::ApiKey> lock_api_key(db::OrgStore& org, ApiKeyId id);
void set_api_key_expiry(db::OrgStore& org, ApiKeyId id, Timestamp expires_at);
// Writes the name, the rates and the end of a locked key.
void write_api_key(db::OrgStore& org, const rules::ApiKey& key);
// False if the key does not exist or was already revoked.
bool revoke_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now);
// Locks the record to set last_used_at. False if last_used_at is already `unless_since` or later,
// or if another transaction locks the record.
bool lock_api_key_to_touch(db::OrgStore& org, ApiKeyId id, Timestamp unless_since);
void touch_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now);

}  // namespace muster::store
