#include "db/two_tenants.hpp"

#include "base/crypto.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "service/audit.hpp"
#include "store/access/admins.hpp"
#include "store/access/api_keys.hpp"
#include "store/attributes.hpp"
#include "store/idempotency.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/member_jobs/jobs.hpp"
#include "store/members/members.hpp"

namespace muster::test {
namespace {

std::vector<rules::RowOutcome> one_of_each() {
    using rules::RowState;
    std::vector<rules::RowOutcome> outcomes;
    for (const auto state :
         {RowState::Valid, RowState::Invalid, RowState::Created, RowState::Attached,
          RowState::Merged, RowState::Failed, RowState::Removed, RowState::Detached,
          RowState::Emptied, RowState::Kept}) {
        outcomes.push_back({state, rules::RowError::None, "", UserId::create()});
    }
    return outcomes;
}

}  // namespace

TwoTenants::TwoTenants() {
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    create_records(owner, "owner");
    create_records(stranger, "stranger");
}

void TwoTenants::create_records(Tenant& tenant, const std::string& name) {
    tenant.id = organization(name);
    as(tenant.id, [&](service::OrgTransaction& transaction) {
        OrgStore org(transaction.tx, tenant.id);
        tenant.admin = store::find_or_insert_admin(transaction.tx, name + "@example.test", kNow);
        store::insert_seat(org, tenant.admin, "owner", kNow);
        store::insert_attribute(org, attribute(tenant, "color"));
        store::insert_api_key(org, api_key(tenant), sha256(name));
        auto reply = record();
        if (name != "owner") reply.key_hash = sha256(name);
        BOOST_TEST(store::insert_idempotency_records(org, {&reply, 1}, kNow));
        service::audit_admin(transaction.tx, tenant.id, tenant.admin, "r", "seat.added", {}, kNow);
        const std::string email = name + "@example.test";
        const store::NewUser user{tenant.user, email};
        store::insert_users(transaction.tx, {&user, 1}, kNow);
        const auto member = empty_member(tenant, "");
        store::fill_members(org, {&member, 1}, kNow);
        store::insert_import(org, job(tenant));
        store::begin_import_phase(org, tenant.job, kNow);
        BOOST_TEST(!store::insert_member_job(org, member_job(tenant)));
        const store::NewBlock block{{0, 0}, 1, "data"};
        store::insert_blocks(org, tenant.job, {&block, 1}, kNow);
        store::write_outcome(org, tenant.job, {0, 0}, store::BlockState::Checked, one_of_each(),
                             kNow);
        const store::NewBlock staged{{1, 0}, 1, "data"};
        store::insert_blocks(org, tenant.job, {&staged, 1}, kNow);
    });
    for (const char* table : {"import_undos", "import_discards"}) {
        client.execute(
            "INSERT INTO " + std::string(table) + " (organization_id, job_id) VALUES (?, ?)",
            tenant.id, tenant.job);
    }
    client.execute(
        "INSERT INTO seat_invitations (organization_id, id, email, role, invited_by, created_at, "
        "sent_at, expires_at) VALUES (?, ?, 'guest@example.test', 'viewer', ?, ?, ?, ?)",
        tenant.id, tenant.invitation, tenant.admin, kNow, kNow, kLater);
    client.execute(
        "INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
        "VALUES (?, 20000, 'staged_bytes', 0, ?)",
        tenant.id, name == "owner" ? 7 : 1);
    client.execute(
        "INSERT INTO organization_deletions (organization_id, requested_at) VALUES (?, 1)",
        tenant.id);
    client.execute(
        "INSERT INTO sessions (id, token_hash, admin_id, active_organization_id, created_at, "
        "last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        SessionId::create(), sha256("session" + name), tenant.admin, tenant.id, kNow, kNow, kLater);
    create_modules(tenant, name);
    create_ads(tenant);
    create_pages(tenant, name);
    create_connections(tenant, name);
}

void TwoTenants::create_ads(const Tenant& tenant) {
    client.execute(
        "INSERT INTO ad_slots (organization_id, id, slug, name, width, height, created_at, "
        "updated_at) VALUES (?, ?, 'top', 'Top', 728, 90, ?, ?)",
        tenant.id, tenant.slot, kNow, kNow);
    client.execute(
        "INSERT INTO ad_campaigns (organization_id, id, name, status, starts_at, weight, "
        "daily_impressions, frequency_cap, targeting, created_at, updated_at) "
        "VALUES (?, ?, 'Cup', 'active', 0, 1, 1000, 3, '{}', ?, ?)",
        tenant.id, tenant.campaign, kNow, kNow);
    client.execute(
        "INSERT INTO ad_campaign_slots (organization_id, slot_id, campaign_id) "
        "VALUES (?, ?, ?)",
        tenant.id, tenant.slot, tenant.campaign);
    client.execute(
        "INSERT INTO ad_creatives (organization_id, id, campaign_id, kind, image_url, width, "
        "height, landing_url, created_at, updated_at) VALUES (?, ?, ?, 'image', "
        "'https://img.example/a.png', 728, 90, 'https://shop.example/', ?, ?)",
        tenant.id, tenant.creative, tenant.campaign, kNow, kNow);
    client.execute(
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, served, "
        "impressions) VALUES (?, ?, 20000, 1, 1)",
        tenant.id, tenant.campaign);
    client.execute(
        "INSERT INTO ad_member_days (organization_id, campaign_id, member_id, day, shown) "
        "VALUES (?, ?, ?, 20000, 1)",
        tenant.id, tenant.campaign, tenant.member);
    client.execute(
        "INSERT INTO ad_redemptions (organization_id, serving_id, kind, redeemed_at) "
        "VALUES (?, ?, 'impression', ?)",
        tenant.id, tenant.serving, kNow);
}

void TwoTenants::create_connections(const Tenant& tenant, const std::string& name) {
    client.execute(
        "INSERT INTO connections (organization_id, id, provider, name, host, status, tokens, "
        "token_generation, details, access_expires_at, refresh_due_at, refreshed_at, "
        "created_at, updated_at) VALUES (?, ?, 'slack', 'Chat', '', 'connected', 'sealed', 1, "
        "'{}', ?, ?, ?, ?, ?)",
        tenant.id, tenant.connection, kLater, kNow, kNow, kNow, kNow);
    client.execute(
        "INSERT INTO connection_authorizations (organization_id, connection_id, state_hash, "
        "session_id, verifier, redirect_uri, expires_at) "
        "VALUES (?, ?, ?, ?, 'sealed', 'https://console.example/callback', ?)",
        tenant.id, tenant.connection, sha256("state" + name), SessionId::create(), kLater);
}

void TwoTenants::create_pages(const Tenant& tenant, const std::string& name) {
    client.execute(
        "INSERT INTO publishable_keys (organization_id, id, kind, name, token, "
        "allowed_origins, created_at) "
        "VALUES (?, ?, 'tracking', 'Shop', ?, 'https://shop.example', ?)",
        tenant.id, tenant.tracking_key, "ek_live_" + name, kNow);
    client.execute(
        "INSERT INTO articles (organization_id, id, slug, title, body_html, locale, tags, "
        "published_at, created_at, updated_at) "
        "VALUES (?, ?, 'news', 'News', '<p>News</p>', 'en', '[\"cup\"]', ?, ?, ?)",
        tenant.id, tenant.article, kNow, kNow, kNow);
    client.execute(
        "INSERT INTO article_tags (organization_id, article_id, tag, published_at) "
        "VALUES (?, ?, 'cup', ?)",
        tenant.id, tenant.article, kNow);
}

void TwoTenants::create_modules(const Tenant& tenant, const std::string& name) {
    client.execute(
        "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, "
        "current_version_id, created_at, updated_at) "
        "VALUES (?, ?, 'shop', 'Shop', 'V', 'proprietary', 'published', ?, ?, ?)",
        tenant.id, tenant.module, tenant.version, kNow, kNow);
    client.execute(
        "INSERT INTO module_versions (organization_id, id, module_id, version, manifest, "
        "status, published_at, created_at, updated_at) "
        "VALUES (?, ?, ?, '1', '{}', 'published', ?, ?, ?)",
        tenant.id, tenant.version, tenant.module, kNow, kNow, kNow);
    client.execute(
        "INSERT INTO module_installations (organization_id, id, module_id, version_id, "
        "status, config, installed_at, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, 'enabled', '{}', ?, ?, ?)",
        tenant.id, tenant.installation, tenant.module, tenant.version, kNow, kNow, kNow);
    client.execute(
        "INSERT INTO module_credentials (organization_id, id, installation_id, name, "
        "secret_hash, last_four, signing_secret, created_at) "
        "VALUES (?, ?, ?, 'n', ?, 'last', 'sealed', ?)",
        tenant.id, tenant.credential, tenant.installation, sha256(name + " credential"), kNow);
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, member_id, installation_id, "
        "action, tags, client_event_id, occurred_at, received_at) "
        "VALUES (?, ?, ?, ?, 'bought', '[]', 'one', ?, ?)",
        tenant.id, tenant.event, tenant.member, tenant.installation, kNow, kNow);
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
        "event_types, status, secret, created_at, updated_at) "
        "VALUES (?, ?, ?, 'https://example.test/', 'member.created', 'active', 's', ?, ?)",
        tenant.id, tenant.endpoint, tenant.installation, kNow, kNow);
    client.execute(
        "INSERT INTO webhook_events (organization_id, id, type, body, user_id, created_at) "
        "VALUES (?, ?, 'member.created', '{}', ?, ?)",
        tenant.id, tenant.webhook_event, tenant.user, kNow);
    client.execute(
        "INSERT INTO webhook_events (organization_id, id, type, body, created_at) "
        "VALUES (?, ?, 'member.created', '{}', ?)",
        tenant.id, tenant.outbox_event, kNow);
    client.execute(
        "INSERT INTO webhook_subscriptions (organization_id, event_type, endpoint_id) "
        "VALUES (?, 'member.created', ?)",
        tenant.id, tenant.endpoint);
    client.execute(
        "INSERT INTO webhook_outbox (organization_id, event_id, event_type, created_at) "
        "VALUES (?, ?, 'member.created', ?)",
        tenant.id, tenant.outbox_event, kNow);
    client.execute(
        "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
        "step, due_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'pending', 1, ?, ?, ?)",
        tenant.id, tenant.delivery, tenant.endpoint, tenant.webhook_event, kNow, kNow, kNow);
    client.execute(
        "INSERT INTO webhook_endpoint_hours (organization_id, endpoint_id, slot, hour_no, "
        "succeeded, failed, failed_attempts) VALUES (?, ?, 0, 100, 1, 0, 0)",
        tenant.id, tenant.endpoint);
    client.execute(
        "INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, status_code, "
        "duration_ms, excerpt, created_at) VALUES (?, ?, ?, 'http_5xx', 500, 7, 'no', ?)",
        tenant.id, tenant.attempt, tenant.delivery, kNow);
}

rules::AttributeRecord TwoTenants::attribute(const Tenant& tenant, const std::string& key) {
    return {tenant.attribute, {key, "Label", rules::AttributeType::Text, {}, true}, kNow, kNow};
}

rules::ApiKey TwoTenants::api_key(const Tenant& tenant) {
    return {tenant.id, tenant.key, "key", "last", {}, {}, {}, kNow, {}, {}, {}};
}

store::IdempotencyRecord TwoTenants::record() {
    return {kHash, kHash, 200, "/here", "body", kLater};
}

store::NewMember TwoTenants::empty_member(const Tenant& tenant, std::string_view first_name) {
    return {
        tenant.user, tenant.member, "m@example.test", {"", first_name, "", "", "", "", ""}, "{}"};
}

rules::ImportJob TwoTenants::job(const Tenant& tenant) {
    rules::ImportJob job;
    job.id = tenant.job;
    job.mapping = "{}";
    job.file_name = "f.csv";
    job.expires_at = kLater;
    job.created_at = job.updated_at = kNow;
    return job;
}

rules::MemberJob TwoTenants::member_job(const Tenant& tenant) {
    rules::MemberJob job;
    job.id = tenant.member_job;
    job.filter.text = "{}";
    job.expires_at = kLater;
    job.phase_started_at = job.created_at = job.updated_at = kNow;
    return job;
}

void TwoTenants::put_job(std::string_view state, std::optional<Uuid> lease_owner) {
    client.execute(
        "UPDATE import_jobs SET state = ?, lease_owner = ?, lease_until = 0 "
        "WHERE organization_id = ?",
        state, lease_owner, owner.id);
}

bool TwoTenants::reaches(OrgId tenant, const std::vector<std::string>& names,
                         const std::function<bool(OrgStore&)>& reach) {
    struct Undo {};
    const auto before = client.snapshot(owner.id);
    bool reached = false;
    const auto undone = [&](db::Tx& tx) {
        OrgStore org(tx, tenant);
        db::statistics() = {};
        try {
            reached = reach(org);
        } catch (const db::DbError& error) {  // the database itself rejected the link
            if (error.kind() != db::DbError::Kind::BadData) throw;
        }
        const auto sent = static_cast<std::size_t>(db::statistics().statements);
        BOOST_TEST(sent == names.size());
        reached = reached || client.snapshot(owner.id) != before;
        throw Undo{};
    };
    BOOST_CHECK_THROW(database.transaction(undone), Undo);
    return reached;
}

void TwoTenants::check(const std::vector<std::string>& names,
                       const std::function<bool(OrgStore&)>& reach, std::optional<OrgId> other) {
    BOOST_TEST_CONTEXT(names.front()) {
        BOOST_TEST(!reaches(other.value_or(stranger.id), names, reach));
        BOOST_TEST(reaches(owner.id, names, reach));
    }
    exercised.insert(names.begin(), names.end());
}

}  // namespace muster::test
