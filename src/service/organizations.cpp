#include "service/organizations.hpp"

#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/member_fields.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "store/api_keys.hpp"
#include "store/organizations.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

constexpr std::string_view kKeyPrefix = "org_";
constexpr std::size_t kLongestName = 255;
constexpr Milliseconds kTouchInterval{60'000};

std::string checked_name(std::string_view name) {
    const std::string_view text = trimmed(name);
    if (text.empty() || !is_utf8(text) || utf8_length(text) > kLongestName) {
        throw std::invalid_argument("a name has 1 to 255 characters");
    }
    return std::string(text);
}

void touch(Context& context, const rules::ApiKey& key, Timestamp now) {
    if (key.last_used_at && now - *key.last_used_at < kTouchInterval) return;
    context.database.read([&](db::Tx& tx) {  // one statement, a transaction of its own
        db::OrgStore org(tx, key.organization_id);
        store::touch_api_key(org, key.id, now);
    });
}

}  // namespace

rules::Organization create_organization(Context& context, std::string_view name) {
    return context.database.transaction([&](db::Tx& tx) {
        rules::Organization organization{OrgId::create(), checked_name(name), Timestamp::now()};
        store::insert_organization(tx, organization);
        Unit unit{tx, {organization.id}, organization.created_at};
        add_starter_attributes(unit);
        audit_operator(tx, organization.id, "organization.created", organization.id.text(),
                       {{"name", organization.name}}, organization.created_at);
        return organization;
    });
}

std::vector<rules::Organization> list_organizations(Context& context) {
    return context.database.read([](db::Tx& tx) { return store::list_organizations(tx); });
}

void require_organization(Context& context, OrgId organization) {
    const bool exists = context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::organization_exists(org);
    });
    if (!exists) throw std::invalid_argument("there is no organization " + organization.text());
}

AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role) {
    std::string address(email);
    const Timestamp now = Timestamp::now();
    if (rules::normalise(rules::CoreField::Email, address, Date::of(now))) {
        throw std::invalid_argument("that is not an email address");
    }
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const AdminId admin = store::find_or_insert_admin(tx, address, now);
        const AddedAdmin added{admin, store::insert_seat(org, admin, role, now)};
        if (added.is_new_seat) {
            audit_operator(tx, organization, "seat.added", admin.text(),
                           {{"role", std::string(role)}}, now);
        }
        return added;
    });
}

IssuedKey issue_api_key(Context& context, OrgId organization, std::string_view name,
                        std::optional<Timestamp> expires_at) {
    IssuedKey issued{{}, create_credential(kKeyPrefix)};
    const std::string& text = issued.secret.reveal();
    issued.key.organization_id = organization;
    issued.key.id = ApiKeyId::create();
    issued.key.name = checked_name(name);
    issued.key.last_four = text.substr(text.size() - 4);
    issued.key.created_at = Timestamp::now();
    issued.key.expires_at = expires_at;
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        store::insert_api_key(org, issued.key, sha256(text));
    });
    return issued;
}

std::vector<rules::ApiKey> list_api_keys(Context& context, OrgId organization) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::list_api_keys(org);
    });
}

bool revoke_api_key(Context& context, OrgId organization, ApiKeyId id) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::revoke_api_key(org, id, Timestamp::now());
    });
}

std::optional<Actor> verify_api_key(Context& context, std::string_view token) {
    // The checksum spares the database every mistyped key; the look-up by SHA-256 of 256 random
    // bits leaks nothing by its time that would help to guess one.
    if (!is_credential(kKeyPrefix, token)) return std::nullopt;
    const auto key =
        context.database.read([&](db::Tx& tx) { return store::find_api_key(tx, sha256(token)); });
    const Timestamp now = Timestamp::now();
    if (!key || key->revoked_at || (key->expires_at && *key->expires_at <= now))
        return std::nullopt;
    touch(context, *key, now);
    return Actor{key->organization_id, std::nullopt, key->id};
}

}  // namespace muster::service
