// Publishable keys, which appear in the source of web pages: tracking keys (ek_live_…) and content
// keys (ck_live_…) (specification 5 rule 7, docs/engagement.md "Publishable keys"). Each function
// takes the kind of the key and does not find a key of the other kind.
#pragma once

#include "rules/pages/publishable_keys.hpp"
#include "service/access/credentials.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostPublishableKeys = 200;  // not revoked, both kinds together
inline constexpr std::size_t kMostOrigins = 50;

struct NewPublishableKey {
    std::string name;
    std::vector<std::string> allowed_origins;  // canonical
    std::optional<Timestamp> expires_at;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
};

// An absent field is not changed; the inner nullopt clears the field.
struct PublishableKeyChange {
    std::optional<std::string> name;
    std::optional<std::vector<std::string>> allowed_origins;  // canonical
    std::optional<std::optional<Timestamp>> expires_at;
    std::optional<std::optional<std::int64_t>> rate_per_second;
    std::optional<std::optional<std::int64_t>> burst;
};

// Issues a key, and mails the owners about it. Throws VALIDATION_ERROR if `expires_at` is in the
// past, INVALID_STATE if the organization has kMostPublishableKeys.
rules::PublishableKey issue_publishable_key(OrgTransaction& transaction, const KeyRing& keys,
                                            rules::PublishableKeyKind kind,
                                            const NewPublishableKey& fields);
// The same for the operator. The origins need not be canonical. Throws std::invalid_argument if the
// name or an origin is invalid, or if there are no origins or too many.
rules::PublishableKey issue_publishable_key(Context& context, OrgId organization,
                                            rules::PublishableKeyKind kind,
                                            const NewPublishableKey& fields);

// At most `limit` keys with an id greater than `after`, ordered by id. A revoked key is listed for
// 30 days.
std::vector<rules::PublishableKey> list_publishable_keys(Context& context, OrgId organization,
                                                         rules::PublishableKeyKind kind,
                                                         std::optional<PublishableKeyId> after,
                                                         int limit);

// The key, as long as it is listed.
std::optional<rules::PublishableKey> find_publishable_key(Context& context, OrgId organization,
                                                          rules::PublishableKeyKind kind,
                                                          PublishableKeyId id);

// Throws if the caller may not give access that lasts.
using AccessCheck = std::function<void()>;

// Changes a key from the next request on; an expired key may get a new expiry. Calls `check_access`
// before it adds an origin or lets the key live longer, and mails the owners about it. Throws
// NOT_FOUND, INVALID_STATE if the key is revoked, VALIDATION_ERROR if `expires_at` is in the past
// or a rate is raised above `rates`.
rules::PublishableKey change_publishable_key(OrgTransaction& transaction, const KeyRing& keys,
                                             rules::PublishableKeyKind kind, PublishableKeyId id,
                                             const PublishableKeyChange& change,
                                             const InstallationRates& rates,
                                             const AccessCheck& check_access = {});

// Revokes the key; it is rejected from the next request. Returns false if the organization does not
// have the key. Revoking a revoked key changes nothing.
bool revoke_publishable_key(OrgTransaction& transaction, rules::PublishableKeyKind kind,
                            PublishableKeyId id);
// For the operator. Also returns false if the key is already revoked.
bool revoke_publishable_key(Context& context, OrgId organization, rules::PublishableKeyKind kind,
                            PublishableKeyId id);

// Whether the text has the prefix and the checksum of a publishable key. Avoids a query for a
// mistyped or made-up key.
[[nodiscard]] bool is_publishable_token(std::string_view text);

// The valid keys among these tokens, found by one query. Unknown, revoked and expired keys are left
// out. Not cached: a revocation takes effect with the next look-up. Updates `last_used_at` at most
// once a minute.
std::vector<rules::PublishableKey> find_publishable_keys(Context& context,
                                                         std::span<const std::string> tokens);

}  // namespace muster::service
