#include "service/access/api_keys.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "service/access/notices.hpp"
#include "service/access/organizations.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/access/api_keys.hpp"

#include <algorithm>

namespace muster::service {
namespace {

IssuedKey make_key(OrgId organization, const NewApiKey& fields, Timestamp now) {
    IssuedKey issued{{}, create_credential(kOrganizationKeyPrefix)};
    issued.key.organization_id = organization;
    issued.key.id = ApiKeyId::create();
    issued.key.name = fields.name;
    issued.key.last_four = last_four(issued.secret);
    issued.key.rate_per_second = fields.rate_per_second;
    issued.key.burst = fields.burst;
    issued.key.role = fields.role;
    issued.key.created_at = now;
    issued.key.expires_at = fields.expires_at;
    return issued;
}

void set_creator(rules::ApiKey& key, const Actor& actor) {
    key.created_by = actor.admin;
    key.created_by_email = actor.admin_email;
}

// Throws NOT_FOUND, or INVALID_STATE for a key that no longer works.
rules::ApiKey locked_valid_key(db::OrgStore& org, ApiKeyId id, Timestamp now) {
    auto key = store::lock_api_key(org, id);
    if (!key) throw Error(ErrorCode::NotFound);
    if (is_expired_or_revoked(*key, now)) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the key is revoked or expired; issue a new one");
    }
    return std::move(*key);
}

void notify_of_key(OrgTransaction& transaction, const KeyRing& keys, const rules::ApiKey& key,
                   std::string_view what = "API key") {
    notify_of_access(transaction, keys,
                     {.what = what,
                      .name = key.name,
                      .id = key.id.text(),
                      .remedy = "revoke the key under API keys"});
}

std::string shown(const std::optional<std::int64_t>& rate) {
    return rate ? std::to_string(*rate) : "default";
}

void audit_change(OrgTransaction& transaction, const rules::ApiKey& before,
                  const rules::ApiKey& key) {
    audit(transaction, "api_key.updated", key.id.text(),
          {{"name", key.name},
           {"expires_at", shown_end(key.expires_at)},
           {"previous_expires_at", shown_end(before.expires_at)},
           {"rate", shown(key.rate_per_second)},
           {"previous_rate", shown(before.rate_per_second)},
           {"burst", shown(key.burst)},
           {"previous_burst", shown(before.burst)}});
}

void reject_surplus_key(db::OrgStore& org, Timestamp now) {
    if (store::count_live_api_keys(org, now, kMostApiKeys) < kMostApiKeys) return;
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "an organization has at most " + std::to_string(kMostApiKeys) +
                              " valid API keys; revoke one first");
}

// Counts the key among those of today and of the organization.
void insert_within_bounds(OrgTransaction& transaction, const IssuedKey& issued) {
    db::OrgStore org(transaction.tx, transaction.org());
    take(org, rules::Quota::IssuedKeys, 1, rules::kMostIssuedKeys, transaction.now);
    reject_surplus_key(org, transaction.now);
    store::insert_api_key(org, issued.key, sha256(issued.secret.reveal()));
}

}  // namespace

IssuedKey issue_api_key(OrgTransaction& transaction, const KeyRing& keys, const NewApiKey& fields) {
    reject_past_expiry(fields.expires_at, transaction.now);
    IssuedKey issued = make_key(transaction.org(), fields, transaction.now);
    set_creator(issued.key, transaction.actor);
    insert_within_bounds(transaction, issued);
    audit(transaction, "api_key.issued", issued.key.id.text(), {{"name", issued.key.name}});
    notify_of_key(transaction, keys, issued.key);
    return issued;
}

IssuedKey issue_api_key(Context& context, OrgId organization, const NewApiKey& fields) {
    NewApiKey checked = fields;
    checked.name = checked_name(fields.name);
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        IssuedKey issued = make_key(organization, checked, now);
        db::OrgStore org(tx, organization);
        reject_surplus_key(org, now);
        store::insert_api_key(org, issued.key, sha256(issued.secret.reveal()));
        audit_operator(tx, organization, "api_key.issued", issued.key.id.text(),
                       {{"name", issued.key.name}}, now);
        OrgTransaction transaction{tx, {organization}, now};
        notify_of_key(transaction, context.keys, issued.key);
        return issued;
    });
}

IssuedKey rotate_api_key(OrgTransaction& transaction, const KeyRing& keys, ApiKeyId id,
                         Milliseconds overlap, const SuccessorEnd& expires_at) {
    if (expires_at) reject_past_expiry(*expires_at, transaction.now);
    db::OrgStore org(transaction.tx, transaction.org());
    const auto old = locked_valid_key(org, id, transaction.now);
    IssuedKey issued = make_key(
        transaction.org(),
        {old.name, expires_at.value_or(old.expires_at), old.rate_per_second, old.burst, old.role},
        transaction.now);
    set_creator(issued.key, transaction.actor);
    if (overlap.count() == 0) {
        store::revoke_api_key(org, id, transaction.now);
    } else {
        const Timestamp end = transaction.now + overlap;
        store::set_api_key_expiry(org, id, old.expires_at ? std::min(*old.expires_at, end) : end);
    }
    insert_within_bounds(transaction, issued);
    audit(transaction, "api_key.rotated", id.text(), {{"successor", issued.key.id.text()}});
    notify_of_key(transaction, keys, issued.key);
    return issued;
}

rules::ApiKey change_api_key(OrgTransaction& transaction, const KeyRing& keys, ApiKeyId id,
                             const ApiKeyChange& change, const InstallationRates& rates) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto before = locked_valid_key(org, id, transaction.now);
    check_changed_bounds(before, change, rates, transaction.now);
    rules::ApiKey key = before;
    key.name = change.name.value_or(before.name);
    key.expires_at = change.expires_at.value_or(before.expires_at);
    key.rate_per_second = change.rate_per_second.value_or(before.rate_per_second);
    key.burst = change.burst.value_or(before.burst);
    if (key == before) return key;
    store::write_api_key(org, key);
    audit_change(transaction, before, key);
    if (is_prolonged(before, key)) notify_of_key(transaction, keys, key, "longer-lived API key");
    return key;
}

std::vector<rules::ApiKey> list_api_keys(Context& context, OrgId organization,
                                         std::optional<ApiKeyId> after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp shown_since = Timestamp::now() - kRevokedKeyLife;
        return store::page_api_keys(org, after.value_or(ApiKeyId()), shown_since, limit);
    });
}

std::optional<rules::ApiKey> find_api_key(Context& context, OrgId organization, ApiKeyId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        auto key = if_shown(store::find_api_key(org, id), now);
        const bool is_old = key && key->expires_at && *key->expires_at < now - kRevokedKeyLife;
        return is_old ? std::nullopt : std::move(key);
    });
}

bool revoke_api_key(OrgTransaction& transaction, ApiKeyId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (!store::lock_api_key(org, id)) return false;
    if (store::revoke_api_key(org, id, transaction.now))
        audit(transaction, "api_key.revoked", id.text());
    return true;
}

bool revoke_api_key(Context& context, OrgId organization, ApiKeyId id) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        if (!store::revoke_api_key(org, id, now)) return false;
        audit_operator(tx, organization, "api_key.revoked", id.text(), {}, now);
        return true;
    });
}

std::map<std::string, rules::ApiKey> verify_api_keys(Context& context,
                                                     std::span<const std::string> tokens) {
    const HashedTokens hashed(tokens);
    auto found = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_api_keys(tx, hashed.hashes()); });
    const Timestamp now = Timestamp::now();
    std::map<std::string, rules::ApiKey> keys;
    for (auto& [hash, key] : found) {
        if (is_expired_or_revoked(key, now)) continue;
        touch(context, key, now, store::lock_api_key_to_touch, store::touch_api_key);
        keys.emplace(hashed.token_of(hash), std::move(key));
    }
    return keys;
}

}  // namespace muster::service
