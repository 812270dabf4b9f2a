// Shared by the credentials that an admin issues (docs/api/keys.md "Keys"): organization keys and
// module credentials. Each expires or is revoked, and records when it was last used.
#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"
#include "service/context.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster::db {
class OrgStore;
}

namespace muster::service {

// How long a revoked credential is still listed.
inline constexpr Milliseconds kRevokedKeyLife = std::chrono::days(30);
// The minimum time between two writes of `last_used_at`.
inline constexpr Milliseconds kTouchInterval{60'000};

// Throws VALIDATION_ERROR if `expires_at` is in the past.
void reject_past_expiry(const std::optional<Timestamp>& expires_at, Timestamp now);

inline constexpr std::int64_t kHighestRate = 100'000;  // that the operator can set
// The rates up to which admins set those of their keys. Only the operator sets higher ones.
struct InstallationRates {
    std::int64_t per_second;
    std::int64_t burst;
};
// What an admin gives a key. nullopt: nothing, or no change.
struct KeyBounds {
    std::optional<std::int64_t> per_second;
    std::optional<std::int64_t> burst;
    std::optional<Timestamp> expires_at;
};
// Throws VALIDATION_ERROR with the rates that are higher, and with `expires_at` if it is in the
// past.
void check_key_bounds(const KeyBounds& bounds, const InstallationRates& rates, Timestamp now);

// The same for a change. A key keeps a higher rate that the operator gave it.
template <class Credential, class Change>
void check_changed_bounds(const Credential& before, const Change& change,
                          const InstallationRates& rates, Timestamp now) {
    const auto raised = [](const auto& changed, const auto& current) {
        const auto wanted = changed.value_or(std::nullopt);
        return wanted == current ? std::nullopt : wanted;
    };
    check_key_bounds({raised(change.rate_per_second, before.rate_per_second),
                      raised(change.burst, before.burst), change.expires_at.value_or(std::nullopt)},
                     rates, now);
}

inline std::string last_four(const Secret& secret) {
    return secret.reveal().substr(secret.reveal().size() - 4);
}

template <class Credential>
bool is_expired_or_revoked(const Credential& credential, Timestamp now) {
    return credential.revoked_at || (credential.expires_at && *credential.expires_at <= now);
}

// Whether a change lets the credential live longer.
template <class Credential>
bool is_prolonged(const Credential& before, const Credential& credential) {
    return before.expires_at &&
           (!credential.expires_at || *credential.expires_at > *before.expires_at);
}

// The end of a credential in the audit log.
inline std::string shown_end(const std::optional<Timestamp>& end) {
    return end ? end->text() : "never";
}

// A credential that was revoked so long ago that it is no longer shown becomes nullopt.
template <class Credential>
std::optional<Credential> if_shown(std::optional<Credential> credential, Timestamp now) {
    const bool is_old =
        credential && credential->revoked_at && *credential->revoked_at < now - kRevokedKeyLife;
    return is_old ? std::nullopt : std::move(credential);
}

template <class Credential>
bool is_touch_due(const Credential& credential, Timestamp now) {
    return !credential.last_used_at || now - *credential.last_used_at >= kTouchInterval;
}

// Writes `last_used_at` in a transaction of its own. Logs a failure and ignores it: no request
// depends on this time.
void write_last_use(Context& context, const std::function<void(db::Tx&)>& write);
void write_last_use(Context& context, OrgId organization,
                    const std::function<void(db::OrgStore&)>& write);

// Writes the credential's `last_used_at` if it is due and if `lock` finds the row free.
template <class Credential, class Lock, class Write>
void touch(Context& context, const Credential& credential, Timestamp now, Lock lock, Write write) {
    if (!is_touch_due(credential, now)) return;
    write_last_use(context, credential.organization_id, [&](db::OrgStore& org) {
        if (lock(org, credential.id, now - kTouchInterval)) write(org, credential.id, now);
    });
}

// Tokens by their SHA-256, by which the database finds them. A look-up by the hash of 256 random
// bits leaks nothing useful through its timing.
class HashedTokens {
  public:
    explicit HashedTokens(std::span<const std::string> tokens);

    const std::vector<std::string>& hashes() const { return hashes_; }
    const std::string& token_of(const std::string& hash) const { return tokens_.at(hash); }

  private:
    std::vector<std::string> hashes_;
    std::map<std::string, std::string> tokens_;
};

}  // namespace muster::service
