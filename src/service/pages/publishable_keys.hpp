// Publishable keys: tracking keys (ek_live_…) and content keys (ck_live_…), which stand in web
// pages (specification 5 rule 7, docs/engagement.md "Publishable keys"): issued, listed, changed,
// revoked, looked up. Each use-case is of one kind; a key of the other one is none to it.
#pragma once

#include "rules/pages/publishable_keys.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostPublishableKeys = 200;  // that are not revoked, of both kinds
inline constexpr std::size_t kMostOrigins = 50;

struct NewPublishableKey {
    std::string name;
    std::vector<std::string> allowed_origins;  // canonical
    std::optional<Timestamp> expires_at;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
};

// What is to change; of an optional within, nullopt clears.
struct PublishableKeyChange {
    std::optional<std::string> name;
    std::optional<std::vector<std::string>> allowed_origins;  // canonical
    std::optional<std::optional<Timestamp>> expires_at;
    std::optional<std::optional<std::int64_t>> rate_per_second;
    std::optional<std::optional<std::int64_t>> burst;
};

// Throws VALIDATION_ERROR for an expires_at that has passed, INVALID_STATE when the organization
// has kMostPublishableKeys.
rules::PublishableKey issue_publishable_key(OrgTransaction& transaction,
                                            rules::PublishableKeyKind kind,
                                            const NewPublishableKey& fields);
// The same for the operator. Throws std::invalid_argument for a bad name, and origins that are
// none, too many or not there; they need not be canonical.
rules::PublishableKey issue_publishable_key(Context& context, OrgId organization,
                                            rules::PublishableKeyKind kind,
                                            const NewPublishableKey& fields);

// By id behind `after`, at most `limit`; revoked ones for 30 days.
std::vector<rules::PublishableKey> list_publishable_keys(Context& context, OrgId organization,
                                                         rules::PublishableKeyKind kind,
                                                         std::optional<PublishableKeyId> after,
                                                         int limit);

// Counts from the next request on, and may give an expired key a new end. Throws NOT_FOUND,
// INVALID_STATE for a revoked key, VALIDATION_ERROR for an expires_at that has passed.
rules::PublishableKey change_publishable_key(OrgTransaction& transaction,
                                             rules::PublishableKeyKind kind, PublishableKeyId id,
                                             const PublishableKeyChange& change);

// From the next request on. False for a key that the organization does not have; a revoked one
// stays as it is.
bool revoke_publishable_key(OrgTransaction& transaction, rules::PublishableKeyKind kind,
                            PublishableKeyId id);
// The operator's: false for a revoked one too.
bool revoke_publishable_key(Context& context, OrgId organization, rules::PublishableKeyKind kind,
                            PublishableKeyId id);

// Whether a text could be a key of one of the kinds: its checksum is right. Spares the database
// what was mistyped or made up.
[[nodiscard]] bool is_publishable_token(std::string_view text);

// The live keys among these tokens, by one look-up; unknown, revoked and expired ones are left out.
// Nothing is cached: a revocation counts from the next look-up on. Notes their use, at most once a
// minute.
std::vector<rules::PublishableKey> find_publishable_keys(Context& context,
                                                         std::span<const std::string> tokens);

}  // namespace muster::service
