#include "service/pages/publishable_keys.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/origins.hpp"
#include "service/access/notices.hpp"
#include "service/access/organizations.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/access/organizations.hpp"
#include "store/pages/publishable_keys.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::PublishableKey;
using rules::PublishableKeyKind;

// "tracking_key.issued"
std::string action_of(PublishableKeyKind kind, std::string_view verb) {
    return std::string(text_of(kind)) + "_key." + std::string(verb);
}

// "tracking key"
std::string noun_of(PublishableKeyKind kind) {
    return std::string(text_of(kind)) + " key";
}

PublishableKey make_key(OrgId organization, PublishableKeyKind kind,
                        const NewPublishableKey& fields, Timestamp now) {
    PublishableKey key;
    key.organization_id = organization;
    key.id = PublishableKeyId::create();
    key.kind = kind;
    key.name = fields.name;
    key.token = create_credential(prefix_of(kind)).reveal();
    key.allowed_origins = fields.allowed_origins;
    key.rate_per_second = fields.rate_per_second;
    key.burst = fields.burst;
    key.created_at = now;
    key.expires_at = fields.expires_at;
    return key;
}

void insert_within_bound(db::OrgStore& org, const PublishableKey& key) {
    lock_counts(org, key.created_at);
    if (store::count_publishable_keys(org) >= kMostPublishableKeys) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason",
                    "an organization has at most " + std::to_string(kMostPublishableKeys) +
                        " unrevoked publishable keys, including expired ones; revoke one first");
    }
    store::insert_publishable_key(org, key);
}

std::vector<std::string> checked_origins(const std::vector<std::string>& origins) {
    if (origins.empty() || origins.size() > kMostOrigins) {
        throw std::invalid_argument("a key has 1 to 50 origins");
    }
    std::vector<std::string> checked;
    for (const std::string& origin : origins) {
        auto canonical = rules::canonical_allowed_origin(origin);
        if (!canonical) {
            throw std::invalid_argument(
                "an origin is https://shop.example[:port] or "
                "https://*.example.com, without a path");
        }
        if (std::find(checked.begin(), checked.end(), *canonical) == checked.end()) {
            checked.push_back(std::move(*canonical));
        }
    }
    return checked;
}

PublishableKey changed(PublishableKey key, const PublishableKeyChange& change) {
    if (change.name) key.name = *change.name;
    if (change.allowed_origins) key.allowed_origins = *change.allowed_origins;
    if (change.expires_at) key.expires_at = *change.expires_at;
    if (change.rate_per_second) key.rate_per_second = *change.rate_per_second;
    if (change.burst) key.burst = *change.burst;
    return key;
}

using Origins = std::vector<std::string>;

// The origins of `key` that `other` does not name.
Origins origins_of_only(const PublishableKey& key, const PublishableKey& other) {
    Origins origins = key.allowed_origins;
    std::erase_if(origins, [&](const std::string& origin) {
        return std::ranges::find(other.allowed_origins, origin) != other.allowed_origins.end();
    });
    return origins;
}

// Of a list in the audit log. The mail to the owners has all.
constexpr std::size_t kMostShownBytes = 1000;

// "https://a.example https://b.example and 3 more"
std::string shown(const Origins& origins) {
    if (origins.empty()) return "none";
    std::string text;
    std::size_t count = 0;
    for (; count < origins.size(); ++count) {
        const std::string next = (count == 0 ? "" : " ") + origins[count];
        if (text.size() + next.size() > kMostShownBytes) break;
        text += next;
    }
    const std::size_t more = origins.size() - count;
    return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

void notify_of_page_key(OrgTransaction& transaction, const KeyRing& keys, const PublishableKey& key,
                        const std::string& what, const Origins& origins) {
    notify_of_access(transaction, keys,
                     {.what = what,
                      .name = key.name,
                      .id = key.id.text(),
                      .addresses = origins,
                      .remedy = "revoke the key under Page keys"});
}

void audit_change(OrgTransaction& transaction, const PublishableKey& before,
                  const PublishableKey& key) {
    audit(transaction, action_of(key.kind, "updated"), key.id.text(),
          {{"name", key.name},
           {"added_origins", shown(origins_of_only(key, before))},
           {"removed_origins", shown(origins_of_only(before, key))},
           {"expires_at", shown_end(key.expires_at)},
           {"previous_expires_at", shown_end(before.expires_at)}});
}

}  // namespace

PublishableKey issue_publishable_key(OrgTransaction& transaction, const KeyRing& keys,
                                     PublishableKeyKind kind, const NewPublishableKey& fields) {
    reject_past_expiry(fields.expires_at, transaction.now);
    PublishableKey key = make_key(transaction.org(), kind, fields, transaction.now);
    key.created_by = transaction.actor.admin;
    key.created_by_email = transaction.actor.admin_email;
    db::OrgStore org(transaction.tx, transaction.org());
    insert_within_bound(org, key);
    take(org, rules::Quota::IssuedKeys, 1, rules::kMostIssuedKeys, transaction.now);
    audit(transaction, action_of(kind, "issued"), key.id.text(),
          {{"name", key.name}, {"added_origins", shown(key.allowed_origins)}});
    notify_of_page_key(transaction, keys, key, noun_of(kind), key.allowed_origins);
    return key;
}

PublishableKey issue_publishable_key(Context& context, OrgId organization, PublishableKeyKind kind,
                                     const NewPublishableKey& fields) {
    NewPublishableKey checked = fields;
    checked.name = checked_name(fields.name);
    checked.allowed_origins = checked_origins(fields.allowed_origins);
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        PublishableKey key = make_key(organization, kind, checked, now);
        db::OrgStore org(tx, organization);
        insert_within_bound(org, key);
        audit_operator(tx, organization, action_of(kind, "issued"), key.id.text(),
                       {{"name", key.name}, {"added_origins", shown(key.allowed_origins)}}, now);
        OrgTransaction transaction{tx, {organization}, now};
        notify_of_page_key(transaction, context.keys, key, noun_of(kind), key.allowed_origins);
        return key;
    });
}

std::vector<PublishableKey> list_publishable_keys(Context& context, OrgId organization,
                                                  PublishableKeyKind kind,
                                                  std::optional<PublishableKeyId> after,
                                                  int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp shown_since = Timestamp::now() - kRevokedKeyLife;
        return store::page_publishable_keys(org, kind, after.value_or(PublishableKeyId()),
                                            shown_since, limit);
    });
}

std::optional<PublishableKey> find_publishable_key(Context& context, OrgId organization,
                                                   PublishableKeyKind kind, PublishableKeyId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return if_shown(store::find_publishable_key(org, kind, id), Timestamp::now());
    });
}

PublishableKey change_publishable_key(OrgTransaction& transaction, const KeyRing& keys,
                                      PublishableKeyKind kind, PublishableKeyId id,
                                      const PublishableKeyChange& change,
                                      const InstallationRates& rates,
                                      const AccessCheck& check_access) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto before = store::lock_publishable_key(org, kind, id);
    if (!before) throw Error(ErrorCode::NotFound);
    check_changed_bounds(*before, change, rates, transaction.now);
    if (before->revoked_at) {
        throw Error(ErrorCode::InvalidState).detail("reason", "the key is revoked");
    }
    PublishableKey key = changed(*before, change);
    if (key == *before) return key;
    const Origins added = origins_of_only(key, *before);
    const bool lives_longer = is_prolonged(*before, key);
    const bool gives_access = lives_longer || !added.empty();
    if (check_access && gives_access) check_access();
    store::write_publishable_key(org, key);
    audit_change(transaction, *before, key);
    const std::string what = (lives_longer ? "longer-lived " : "") + noun_of(kind);
    if (gives_access) {
        notify_of_page_key(transaction, keys, key, (added.empty() ? "" : "origin of a ") + what,
                           added);
    }
    return key;
}

bool revoke_publishable_key(OrgTransaction& transaction, PublishableKeyKind kind,
                            PublishableKeyId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (!store::lock_publishable_key(org, kind, id)) return false;
    if (store::revoke_publishable_key(org, kind, id, transaction.now)) {
        audit(transaction, action_of(kind, "revoked"), id.text());
    }
    return true;
}

bool revoke_publishable_key(Context& context, OrgId organization, PublishableKeyKind kind,
                            PublishableKeyId id) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        if (!store::revoke_publishable_key(org, kind, id, now)) return false;
        audit_operator(tx, organization, action_of(kind, "revoked"), id.text(), {}, now);
        return true;
    });
}

bool is_publishable_token(std::string_view text) {
    constexpr auto& kKinds = kNames<rules::PublishableKeyKind>;
    return std::any_of(kKinds.begin(), kKinds.end(), [&](const auto& kind) {
        return is_credential(rules::prefix_of(kind.value), text);
    });
}

std::vector<rules::PublishableKey> find_publishable_keys(Context& context,
                                                         std::span<const std::string> tokens) {
    if (tokens.empty()) return {};
    auto keys = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_publishable_keys(tx, tokens); });
    const Timestamp now = Timestamp::now();
    std::erase_if(keys, [&](const auto& key) { return is_expired_or_revoked(key, now); });
    for (const rules::PublishableKey& key : keys) {
        touch(context, key, now, store::lock_publishable_key_to_touch,
              store::touch_publishable_key);
    }
    return keys;
}

}  // namespace muster::service
