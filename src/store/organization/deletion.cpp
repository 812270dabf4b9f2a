#include "store/organization/deletion.hpp"

#include "db/sql_text.hpp"
#include "rules/access/roles.hpp"
#include "store/access/admins.hpp"
#include "store/access/sessions.hpp"
#include "store/id_bounds.hpp"

#include <array>
#include <vector>

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::SqlText;
using db::SystemSql;
using db::Why;

// ---------------------------------------------------------------------------- the request

bool insert_organization_deletion(db::OrgStore& org, Timestamp now) {
    static constexpr OrgSql kInsert{
        "organization_deletions.insert",
        "INSERT INTO organization_deletions (organization_id, requested_at) VALUES (:org, ?)"};
    return db::try_unique([&] { org.execute(kInsert, now); });
}

std::vector<OrgId> list_organization_deletions(db::Tx& tx, OrgId after, int limit) {
    static constexpr SystemSql kList{
        "organization_deletions.list",
        Why{"the runner serves all tenants; each row names its tenant"},
        "SELECT organization_id FROM organization_deletions FORCE INDEX (PRIMARY) "
        "WHERE organization_id > ? ORDER BY organization_id LIMIT ?"};
    return tx.all<OrgId>(kList, after, limit);
}

bool lock_organization_deletion(db::OrgStore& org) {
    static constexpr OrgSql kLock{
        "organization_deletions.lock",
        "SELECT 1 FROM organization_deletions WHERE organization_id = :org FOR UPDATE"};
    return org.exists(kLock);
}

void add_deleted_rows(db::OrgStore& org, std::int64_t rows) {
    static constexpr OrgSql kAdd{
        "organization_deletions.add_rows",
        "UPDATE organization_deletions "
        "SET deleted_rows = deleted_rows + ? WHERE organization_id = :org"};
    org.execute(kAdd, rows);
}

std::optional<std::int64_t> find_deleted_rows(db::OrgStore& org) {
    static constexpr OrgSql kFind{
        "organization_deletions.find_rows",
        "SELECT deleted_rows FROM organization_deletions WHERE organization_id = :org"};
    return org.one<std::int64_t>(kFind);
}

// ---------------------------------------------------------------------------- the rows

namespace {

// A text as a template argument.
template <std::size_t kSize>
struct Word {
    consteval Word(const char (&from)[kSize]) {  // NOLINT(google-explicit-constructor)
        for (std::size_t i = 0; i < kSize; ++i) text[i] = from[i];
    }
    constexpr std::string_view view() const { return {text, kSize - 1}; }
    char text[kSize]{};
};

template <Word kTable>
constexpr SqlText erase_name() {
    return {"organization_rows.delete_", kTable.view()};
}
template <Word kTable>
constexpr SqlText count_name() {
    return {"organization_rows.count_", kTable.view()};
}
// With the whole key in ORDER BY, the key is read up to the limit and not sorted.
template <Word kTable, Word kKey>
constexpr SqlText erase_text() {
    return {"DELETE FROM ", kTable.view(),
            " WHERE organization_id = :org ORDER BY organization_id, ", kKey.view(), " LIMIT ?"};
}
template <Word kTable, Word kIndex>
constexpr SqlText count_text() {
    return {"SELECT COUNT(*) FROM (SELECT 1 FROM ", kTable.view(), " FORCE INDEX (", kIndex.view(),
            ") WHERE organization_id = :org LIMIT ?) AS counted"};
}

template <Word kTable, Word kIndex = "PRIMARY">
std::int64_t count_rows(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql<> kThis{db::kSqlText<count_name<kTable>>,
                                    db::kSqlText<count_text<kTable, kIndex>>};
    return org.value<std::int64_t>(kThis, most);
}

template <Word kTable, Word kKey>
std::int64_t erase_rows(db::Tx&, db::OrgStore& org, int limit) {
    static constexpr OrgSql<> kThis{db::kSqlText<erase_name<kTable>>,
                                    db::kSqlText<erase_text<kTable, kKey>>};
    return org.execute(kThis, limit);
}

// A table of which nothing but the organization decides what is deleted. `kKey`: the columns of the
// primary key after organization_id.
template <Word kTable, Word kKey>
constexpr TenantTable rows_of(int at_once = 1000) {
    return {kTable.view(), count_rows<kTable>, erase_rows<kTable, kKey>, at_once};
}

// A connection with tokens waits until they are revoked (store/connections/leases.hpp).
std::int64_t erase_connections(db::Tx&, db::OrgStore& org, int limit) {
    static constexpr OrgSql kDelete{
        "organization_rows.delete_connections",
        "DELETE FROM connections WHERE organization_id = :org AND tokens IS NULL "
        "ORDER BY organization_id, id LIMIT ?"};
    return org.execute(kDelete, limit);
}

// The members, and the users whom no other organization has as members or names in webhook events.
// An erasure finds these events by the user.
std::int64_t erase_members(db::Tx& tx, db::OrgStore& org, int limit) {
    static constexpr OrgSql kFind{"organization_rows.find_members",
                                  "SELECT user_id FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org ORDER BY user_id LIMIT ?"};
    static constexpr SystemSql kLock{"organization_rows.lock_users",
                                     Why{"a user belongs to no tenant; the members do"},
                                     "SELECT id FROM users FORCE INDEX (PRIMARY) "
                                     "WHERE id IN ({?}) ORDER BY id FOR UPDATE"};
    static constexpr OrgSql kDeleteMembers{
        "organization_rows.delete_members",
        "DELETE FROM members WHERE organization_id = :org AND user_id IN ({?})"};
    static constexpr SystemSql kDelete{
        "organization_rows.delete_users", Why{"a user belongs to no tenant; the members do"},
        "DELETE FROM users WHERE id IN ({?}) AND NOT EXISTS (SELECT 1 FROM members m "
        "FORCE INDEX (members_user) WHERE m.user_id = users.id) "
        "AND NOT EXISTS (SELECT 1 FROM webhook_events e FORCE INDEX (about_user) "
        "WHERE e.user_id = users.id)"};
    const auto users = org.all<UserId>(kFind, limit);
    if (users.empty()) return 0;
    const std::vector<Param> params(users.begin(), users.end());
    // Before the members: no other organization can add one of these users as a member now.
    (void)tx.all_bulk<UserId>(kLock, users.size(), params);
    org.execute_bulk(kDeleteMembers, users.size(), params);
    tx.execute_bulk(kDelete, users.size(), params);
    return static_cast<std::int64_t>(users.size());
}

std::int64_t count_sessions(db::OrgStore& org, std::int64_t most) {
    static constexpr OrgSql kCount{
        "organization_rows.count_sessions",
        "SELECT COUNT(*) FROM (SELECT 1 FROM sessions FORCE INDEX (sessions_organization) "
        "WHERE active_organization_id = :org LIMIT ?) AS counted"};
    return org.value<std::int64_t>(kCount, most);
}

std::int64_t erase_sessions(db::Tx& tx, db::OrgStore& org, int limit) {
    static constexpr OrgSql kFind{"organization_rows.find_sessions",
                                  "SELECT id FROM sessions FORCE INDEX (sessions_organization) "
                                  "WHERE active_organization_id = :org LIMIT ?"};
    const auto ids = org.all<SessionId>(kFind, limit);
    for (const SessionId& id : ids) delete_session(tx, id);
    return static_cast<std::int64_t>(ids.size());
}

// An admin without any seat cannot sign in. One whom a record of another organization names is
// kept.
void erase_admin(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kDelete{"organization_rows.delete_admin",
                                       Why{"admins belong to no tenant; their seats do"},
                                       "DELETE FROM admins WHERE id = ?"};
    static constexpr SystemSql kFindSeat{"organization_rows.find_seat",
                                         Why{"admins belong to no tenant; their seats do"},
                                         "SELECT 1 FROM seats FORCE INDEX (admin) "
                                         "WHERE admin_id = ? LIMIT 1"};
    if (tx.exists(kFindSeat, admin)) return;
    delete_sessions_of(tx, admin);
    clear_second_factor(tx, admin);
    tx.attempt([&] { tx.execute(kDelete, admin); });
}

std::int64_t erase_seats(db::Tx& tx, db::OrgStore& org, int limit) {
    static constexpr OrgSql kFind{"organization_rows.find_seats",
                                  "SELECT admin_id FROM seats FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org ORDER BY admin_id LIMIT ?"};
    const auto admins = org.all<AdminId>(kFind, limit);
    for (const AdminId& admin : admins) {
        lock_admin(tx, admin);  // another organization may give it a seat at the same time
        delete_seat(org, admin);
        erase_admin(tx, admin);
    }
    return static_cast<std::int64_t>(admins.size());
}

// The programs' user cannot delete younger entries (sql/schema.sql).
std::int64_t erase_audit_log(db::Tx&, db::OrgStore& org, int limit) {
    static constexpr OrgSql kFind{
        "organization_rows.find_audit_log",
        "SELECT id FROM audit_log FORCE INDEX (organization) WHERE organization_id = :org "
        "AND id < ? AND created_at <= ? ORDER BY id LIMIT ?"};
    static constexpr OrgSql kDelete{
        "organization_rows.delete_audit_log",
        "DELETE FROM audit_log WHERE id IN ({?}) AND organization_id = :org"};
    const Timestamp until = Timestamp::now() - std::chrono::days(30);
    const auto ids = org.all<AuditId>(kFind, id_after(until, std::chrono::days(1)), until, limit);
    const std::vector<Param> params(ids.begin(), ids.end());
    return ids.empty() ? 0 : org.execute_bulk(kDelete, ids.size(), params);
}

constexpr std::array kTenantTables = {
    rows_of<"idempotency_keys", "key_hash">(),
    // A block has up to 4 MiB.
    rows_of<"import_blocks", "job_id, block_no, part">(20),
    rows_of<"import_discards", "job_id">(),
    rows_of<"import_undos", "job_id">(),
    rows_of<"import_progress", "job_id">(),
    rows_of<"import_jobs", "id">(100),
    rows_of<"member_jobs", "id">(),
    rows_of<"webhook_attempts", "id">(),
    rows_of<"webhook_deliveries", "id">(),
    rows_of<"webhook_outbox", "event_id">(),
    rows_of<"webhook_events", "id">(),
    rows_of<"webhook_subscriptions", "event_type, endpoint_id">(),
    rows_of<"webhook_endpoint_hours", "endpoint_id, slot">(),
    rows_of<"webhook_endpoints", "id">(),
    rows_of<"module_credentials", "id">(),
    rows_of<"engagement_events", "id">(),
    rows_of<"module_installations", "id">(),
    rows_of<"module_versions", "id">(100),
    rows_of<"modules", "id">(),
    rows_of<"ad_redemptions", "serving_id, kind">(),
    rows_of<"ad_member_days", "campaign_id, member_id, day">(),
    rows_of<"ad_campaign_days", "campaign_id, day">(),
    rows_of<"ad_creatives", "id">(100),
    rows_of<"ad_campaign_slots", "slot_id, campaign_id">(),
    rows_of<"ad_campaigns", "id">(),
    rows_of<"ad_slots", "id">(),
    rows_of<"article_tags", "article_id, tag">(),
    rows_of<"articles", "id">(100),
    rows_of<"publishable_keys", "id">(),
    rows_of<"api_keys", "id">(),
    rows_of<"connection_authorizations", "connection_id">(),
    TenantTable{"connections", count_rows<"connections">, erase_connections, 100},
    TenantTable{"members", count_rows<"members">, erase_members, 500},
    rows_of<"attributes", "id">(),
    rows_of<"seat_invitations", "id">(),
    TenantTable{"sessions", count_sessions, erase_sessions, 100},
    TenantTable{"seats", count_rows<"seats">, erase_seats, 20},
    rows_of<"organization_days", "day, kind, slot">(),
    TenantTable{"audit_log", count_rows<"audit_log", "organization">, erase_audit_log, 1000},
};

}  // namespace

std::span<const TenantTable> tenant_tables() {
    return kTenantTables;
}

void remove_all_connections(db::OrgStore& org, Timestamp now) {
    static constexpr OrgSql kRemove{
        "organization_rows.remove_connections",
        "UPDATE connections SET removed_at = ?, refresh_due_at = ?, refresh_attempts = 0, "
        "updated_at = ? WHERE organization_id = :org AND removed_at IS NULL"};
    org.execute(kRemove, now, now, now);
}

bool delete_organization(db::Tx& tx, db::OrgStore& org) {
    static constexpr OrgSql kDeletion{
        "organization_deletions.delete",
        "DELETE FROM organization_deletions WHERE organization_id = :org"};
    static constexpr OrgSql kDelete{"organizations.delete",
                                    "DELETE FROM organizations WHERE id = :org"};
    return tx.attempt([&] {
        org.execute(kDeletion);
        org.execute(kDelete);
    });
}

}  // namespace muster::store
