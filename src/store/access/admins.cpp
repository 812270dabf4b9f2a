#include "store/access/admins.hpp"
#include "rules/access/roles.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kHolder = columns<rules::SeatHolder>(
    column<&rules::SeatHolder::admin_id>("a.id"), column<&rules::SeatHolder::email>("a.email"),
    column<&rules::SeatHolder::role>("s.role"),
    column<&rules::SeatHolder::is_enrolled>("a.totp_enrolled_at IS NOT NULL"),
    column<&rules::SeatHolder::since>("s.created_at"));

constexpr auto kSeat = columns<rules::Seat>(
    column<&rules::Seat::organization_id>("s.organization_id"),
    column<&rules::Seat::name>("o.name"), column<&rules::Seat::role>("s.role"));

constexpr auto kHeldRole =
    columns<HeldRole>(column<&HeldRole::admin_id>("admin_id"), column<&HeldRole::role>("role"));

using rules::SecondFactorGuesses;
constexpr auto kGuesses = columns<SecondFactorGuesses>(
    column<&SecondFactorGuesses::failures>("second_factor_failures"),
    column<&SecondFactorGuesses::pauses>("second_factor_pauses"),
    column<&SecondFactorGuesses::paused_until>("second_factor_paused_until"));

constexpr auto kAdmin = columns<rules::Admin>(
    column<&rules::Admin::id>("id"), column<&rules::Admin::email>("email"),
    converted<or_empty<std::string>, &rules::Admin::totp_secret>("totp_secret"),
    column<&rules::Admin::totp_enrolled_at>("totp_enrolled_at"),
    column<&rules::Admin::totp_last_step>("totp_last_step"),
    nested<&rules::Admin::guesses>(kGuesses));

}  // namespace

AdminId find_or_insert_admin(db::Tx& tx, std::string_view email, Timestamp now) {
    static constexpr SystemSql kFind{"admins.find_id",
                                     Why{"admins belong to no tenant; their seats do"},
                                     "SELECT id FROM admins WHERE email = ? FOR UPDATE"};
    static constexpr SystemSql kInsert{
        "admins.insert", Why{"admins belong to no tenant; their seats do"},
        "INSERT INTO admins (id, email, created_at) VALUES (?, ?, ?)"};
    if (const auto found = tx.one<AdminId>(kFind, email)) return *found;
    const AdminId id = AdminId::create();
    if (!db::try_unique([&] { tx.execute(kInsert, id, email, now); })) {
        throw db::RetryTransaction{"another operator added the same admin at the same time"};
    }
    return id;
}

std::optional<rules::Admin> find_admin(db::Tx& tx, std::string_view email) {
    static constexpr SystemSql kFind{"admins.find",
                                     Why{"admins belong to no tenant; their seats do"}, kAdmin,
                                     "SELECT {columns} FROM admins WHERE email = ?"};
    return tx.one(kFind, email);
}

std::optional<rules::Admin> lock_admin(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kLock{"admins.lock",
                                     Why{"admins belong to no tenant; their seats do"}, kAdmin,
                                     "SELECT {columns} FROM admins WHERE id = ? FOR UPDATE"};
    return tx.one(kLock, admin);
}

bool insert_seat(db::OrgStore& org, AdminId admin, std::string_view role, Timestamp now) {
    static constexpr OrgSql kInsert{
        "seats.insert",
        "INSERT INTO seats (organization_id, admin_id, role, created_at) VALUES (:org, ?, ?, ?)"};
    return db::try_unique([&] { org.execute(kInsert, admin, role, now); });
}

bool delete_seat(db::OrgStore& org, AdminId admin) {
    static constexpr OrgSql kDelete{
        "seats.delete", "DELETE FROM seats WHERE organization_id = :org AND admin_id = ?"};
    return org.execute(kDelete, admin) == 1;
}

std::vector<rules::SeatHolder> list_seat_holders(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "seats.list", kHolder,
        "SELECT {columns} FROM seats s FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN admins a ON a.id = s.admin_id WHERE s.organization_id = :org "
        "ORDER BY s.created_at, a.id"};
    return org.all(kList);
}

void set_role(db::OrgStore& org, AdminId admin, std::string_view role) {
    static constexpr OrgSql kSet{
        "seats.set_role",
        "UPDATE seats SET role = ? WHERE organization_id = :org AND admin_id = ?"};
    org.execute(kSet, role, admin);
}

std::vector<HeldRole> lock_seats(db::OrgStore& org) {
    static constexpr OrgSql kLock{"seats.lock", kHeldRole,
                                  "SELECT {columns} FROM seats FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org ORDER BY admin_id FOR UPDATE"};
    return org.all(kLock);
}

bool has_seat(db::OrgStore& org, std::string_view email) {
    static constexpr OrgSql kFind{
        "seats.find_by_email",
        "SELECT 1 FROM admins a JOIN seats s ON s.organization_id = :org AND s.admin_id = a.id "
        "WHERE a.email = ?"};
    return org.exists(kFind, email);
}

std::optional<rules::SeatHolder> find_seat_holder(db::OrgStore& org, AdminId admin) {
    static constexpr OrgSql kFind{
        "seats.find_holder", kHolder,
        "SELECT {columns} FROM seats s JOIN admins a ON a.id = s.admin_id "
        "WHERE s.organization_id = :org AND s.admin_id = ?"};
    return org.one(kFind, admin);
}

std::vector<rules::SeatHolder> page_seat_holders(db::OrgStore& org, AdminId after, int limit) {
    static constexpr OrgSql kPage{
        "seats.page", kHolder,
        "SELECT {columns} FROM seats s FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN admins a ON a.id = s.admin_id "
        "WHERE s.organization_id = :org AND s.admin_id > ? ORDER BY s.admin_id LIMIT ?"};
    return org.all(kPage, after, limit);
}

std::optional<rules::Role> find_role(db::OrgStore& org, AdminId admin) {
    static constexpr OrgSql kFind{
        "seats.find_role",
        "SELECT role FROM seats WHERE organization_id = :org AND admin_id = ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = :org) IS NULL"};
    return org.one<rules::Role>(kFind, admin);
}

std::vector<rules::Seat> find_seats(db::Tx& tx, AdminId admin) {
    // If two seats have the same time, the older organization comes first.
    static constexpr SystemSql kFind{"seats.find", Why{"lists the tenants of a signed-in admin"},
                                     kSeat,
                                     "SELECT {columns} FROM seats s FORCE INDEX (admin) "
                                     "STRAIGHT_JOIN organizations o ON o.id = s.organization_id "
                                     "WHERE s.admin_id = ? AND o.disabled_at IS NULL "
                                     "ORDER BY s.created_at, s.organization_id"};
    return tx.all(kFind, admin);
}

std::vector<OrgId> find_seat_organizations(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kFind{
        "seats.find_organizations", Why{"lists the tenants of an admin"},
        "SELECT organization_id FROM seats FORCE INDEX (admin) WHERE admin_id = ? "
        "ORDER BY organization_id"};
    return tx.all<OrgId>(kFind, admin);
}

void set_totp_secret(db::Tx& tx, AdminId admin, std::string_view sealed) {
    static constexpr SystemSql kSet{
        "admins.set_totp_secret", Why{"admins belong to no tenant; their seats do"},
        "UPDATE admins SET totp_secret = ?, totp_enrolled_at = NULL, totp_last_step = 0 "
        "WHERE id = ?"};
    tx.execute(kSet, sealed, admin);
}

void set_totp_enrolled(db::Tx& tx, AdminId admin, Timestamp now) {
    static constexpr SystemSql kSet{"admins.set_totp_enrolled",
                                    Why{"admins belong to no tenant; their seats do"},
                                    "UPDATE admins SET totp_enrolled_at = ? WHERE id = ?"};
    tx.execute(kSet, now, admin);
}

void replace_totp_secret(db::Tx& tx, AdminId admin, std::string_view sealed, std::int64_t step,
                         Timestamp now) {
    static constexpr SystemSql kReplace{
        "admins.replace_totp_secret", Why{"admins belong to no tenant; their seats do"},
        "UPDATE admins SET totp_secret = ?, totp_enrolled_at = ?, totp_last_step = ? "
        "WHERE id = ?"};
    tx.execute(kReplace, sealed, now, step, admin);
}

void set_totp_last_step(db::Tx& tx, AdminId admin, std::int64_t step) {
    static constexpr SystemSql kSet{"admins.set_totp_last_step",
                                    Why{"admins belong to no tenant; their seats do"},
                                    "UPDATE admins SET totp_last_step = ? WHERE id = ?"};
    tx.execute(kSet, step, admin);
}

void set_second_factor_guesses(db::Tx& tx, AdminId admin, const SecondFactorGuesses& guesses) {
    static constexpr SystemSql kSet{
        "admins.set_second_factor_guesses", Why{"admins belong to no tenant; their seats do"},
        "UPDATE admins SET second_factor_failures = ?, second_factor_pauses = ?, "
        "second_factor_paused_until = ? WHERE id = ?"};
    tx.execute(kSet, guesses.failures, guesses.pauses, guesses.paused_until, admin);
}

void clear_second_factor(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kClear{
        "admins.clear_second_factor", Why{"admins belong to no tenant; their seats do"},
        "UPDATE admins SET totp_secret = NULL, totp_enrolled_at = NULL, totp_last_step = 0, "
        "second_factor_failures = 0, second_factor_pauses = 0, second_factor_paused_until = 0 "
        "WHERE id = ?"};
    tx.execute(kClear, admin);
    replace_backup_codes(tx, admin, {}, Timestamp());
}

void replace_backup_codes(db::Tx& tx, AdminId admin, const std::vector<std::string>& hashes,
                          Timestamp now) {
    static constexpr SystemSql kDelete{"backup_codes.delete_all",
                                       Why{"admins belong to no tenant; their seats do"},
                                       "DELETE FROM backup_codes WHERE admin_id = ?"};
    static constexpr SystemSql kInsert{
        "backup_codes.insert", Why{"admins belong to no tenant; their seats do"},
        "INSERT INTO backup_codes (admin_id, code_hash, created_at) VALUES {(?, ?, ?)}"};
    tx.execute(kDelete, admin);
    if (hashes.empty()) return;
    std::vector<Param> params;
    for (const std::string& hash : hashes) params.insert(params.end(), {admin, hash, now});
    tx.execute_bulk(kInsert, hashes.size(), params);
}

std::int64_t count_backup_codes(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kCount{
        "backup_codes.count", Why{"admins belong to no tenant; their seats do"},
        "SELECT COUNT(*) FROM backup_codes FORCE INDEX (PRIMARY) WHERE admin_id = ?"};
    return tx.value<std::int64_t>(kCount, admin);
}

bool use_backup_code(db::Tx& tx, AdminId admin, std::string_view hash) {
    static constexpr SystemSql kUse{
        "backup_codes.use", Why{"admins belong to no tenant; their seats do"},
        "DELETE FROM backup_codes WHERE admin_id = ? AND code_hash = ?"};
    return tx.execute(kUse, admin, hash) == 1;
}

}  // namespace muster::store
