// Organization API keys (org_…): issue, list, rotate, revoke and verify (docs/api/keys.md "Keys").
// The secret is returned only once, when the key is issued.
#pragma once

#include "base/secret.hpp"
#include "rules/access/api_keys.hpp"
#include "service/access/credentials.hpp"
#include "service/context.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

inline constexpr std::string_view kOrganizationKeyPrefix = "org_";
inline constexpr std::int64_t kLongestOverlap = 604'800;  // seconds
inline constexpr std::int64_t kMostApiKeys = 100;         // valid ones of an organization

struct NewApiKey {
    std::string name;
    std::optional<Timestamp> expires_at;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
    rules::KeyRole role = rules::KeyRole::Admin;
};

// An absent field keeps its value. An empty rate is the installation's default.
struct ApiKeyChange {
    std::optional<std::string> name = {};
    std::optional<std::optional<Timestamp>> expires_at = {};
    std::optional<std::optional<std::int64_t>> rate_per_second = {};
    std::optional<std::optional<std::int64_t>> burst = {};
};

struct IssuedKey {
    rules::ApiKey key;
    Secret secret;  // returned only here
};

// Issues a key, and mails the owners. Throws VALIDATION_ERROR if `expires_at` is in the past.
IssuedKey issue_api_key(OrgTransaction& transaction, const KeyRing& keys, const NewApiKey& fields);
// The same for the operator. Throws std::invalid_argument if the name is invalid.
IssuedKey issue_api_key(Context& context, OrgId organization, const NewApiKey& fields);

// The end of a rotated key's successor: nullopt keeps the end of the old key.
using SuccessorEnd = std::optional<std::optional<Timestamp>>;

// Issues a successor with the same name, role and rates, and mails the owners. The old key expires
// after `overlap`, or at its own expiry if that is earlier; with no overlap it is revoked. Throws
// NOT_FOUND if the organization does not have the key, INVALID_STATE if it is revoked or expired,
// VALIDATION_ERROR if `expires_at` is in the past.
IssuedKey rotate_api_key(OrgTransaction& transaction, const KeyRing& keys, ApiKeyId id,
                         Milliseconds overlap, const SuccessorEnd& expires_at = {});

// Changes a key, and returns it. A rate may be raised up to the installation's; a higher one, which
// the operator set, may be kept. Throws NOT_FOUND if the organization does not have the key,
// INVALID_STATE if it is revoked or expired, VALIDATION_ERROR for a rate or an end that is not
// allowed. Mails the owners about a later end, or none.
rules::ApiKey change_api_key(OrgTransaction& transaction, const KeyRing& keys, ApiKeyId id,
                             const ApiKeyChange& change, const InstallationRates& rates);

// At most `limit` keys with an id greater than `after`, ordered by id. A revoked key is listed for
// 30 days.
std::vector<rules::ApiKey> list_api_keys(Context& context, OrgId organization,
                                         std::optional<ApiKeyId> after, int limit);

// The key, as long as it is listed.
std::optional<rules::ApiKey> find_api_key(Context& context, OrgId organization, ApiKeyId id);

// Revokes the key; it is rejected from the next request. Returns false if the organization does not
// have the key. Revoking a revoked key changes nothing.
bool revoke_api_key(OrgTransaction& transaction, ApiKeyId id);
bool revoke_api_key(Context& context, OrgId organization, ApiKeyId id);

// The valid keys of these tokens (one or more), by token, found by one query. Unknown, revoked and
// expired keys are left out. Updates `last_used_at` at most once a minute.
std::map<std::string, rules::ApiKey> verify_api_keys(Context& context,
                                                     std::span<const std::string> tokens);

}  // namespace muster::service
