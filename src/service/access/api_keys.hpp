// Organization API keys (org_…): issued, shown once, listed, rotated, revoked, checked
// (docs/api/keys.md "Keys").
#pragma once

#include "base/secret.hpp"
#include "rules/access/api_keys.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

inline constexpr std::string_view kOrganizationKeyPrefix = "org_";
inline constexpr std::int64_t kHighestRate = 100'000;
inline constexpr std::int64_t kLongestOverlap = 604'800;  // seconds

struct NewApiKey {
    std::string name;
    std::optional<Timestamp> expires_at;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
};

struct IssuedKey {
    rules::ApiKey key;
    Secret secret;  // shown this once
};

// Throws VALIDATION_ERROR for an expires_at that has passed.
IssuedKey issue_api_key(OrgTransaction& transaction, const NewApiKey& fields);
// The same for the operator. Throws std::invalid_argument for a bad name.
IssuedKey issue_api_key(Context& context, OrgId organization, const NewApiKey& fields);

// A new key with the old one's name and rates; the old one dies `overlap` later. Throws NOT_FOUND,
// and INVALID_STATE for a key that is revoked or expired.
IssuedKey rotate_api_key(OrgTransaction& transaction, ApiKeyId id, Milliseconds overlap);

// By id behind `after`, at most `limit`; revoked ones for 30 days.
std::vector<rules::ApiKey> list_api_keys(Context& context, OrgId organization,
                                         std::optional<ApiKeyId> after, int limit);

// From the next request on. False for a key that the organization does not have; a revoked one
// stays as it is.
bool revoke_api_key(OrgTransaction& transaction, ApiKeyId id);
bool revoke_api_key(Context& context, OrgId organization, ApiKeyId id);

// The key behind a token; nullopt for one that is unknown, revoked or expired. Notes its use, at
// most once a minute.
std::optional<rules::ApiKey> verify_api_key(Context& context, std::string_view token);

}  // namespace muster::service
