#include "store/organizations.hpp"

namespace muster::store {

using db::DbError;
using db::OrgSql;
using db::SystemSql;
using db::Why;

void insert_organization(db::Tx& tx, const rules::Organization& organization) {
    static constexpr SystemSql kInsert{
        "organizations.insert", Why{"makes the tenant itself"},
        "INSERT INTO organizations (id, name, created_at) VALUES (?, ?, ?)"};
    tx.execute(kInsert, organization.id, organization.name, organization.created_at);
}

std::vector<rules::Organization> list_organizations(db::Tx& tx) {
    static constexpr SystemSql kList{"organizations.list",
                                     Why{"the operator's list of all tenants"},
                                     "SELECT id, name, created_at FROM organizations ORDER BY id"};
    std::vector<rules::Organization> list;
    for (auto rows = tx.query(kList); rows.next();) {
        list.push_back({rows.id<OrgId>(1), rows.bytes(2), rows.timestamp(3)});
    }
    return list;
}

bool organization_exists(db::OrgStore& org) {
    static constexpr OrgSql kFind{"organizations.find",
                                  "SELECT 1 FROM organizations WHERE id = :org"};
    return org.query(kFind).next();
}

AdminId find_or_insert_admin(db::Tx& tx, std::string_view email, Timestamp now) {
    static constexpr SystemSql kFind{"admins.find",
                                     Why{"an admin belongs to no tenant, a seat does"},
                                     "SELECT id FROM admins WHERE email = ? FOR UPDATE"};
    static constexpr SystemSql kInsert{
        "admins.insert", Why{"an admin belongs to no tenant, a seat does"},
        "INSERT INTO admins (id, email, created_at) VALUES (?, ?, ?)"};
    auto rows = tx.query(kFind, email);
    if (rows.next()) return rows.id<AdminId>(1);
    const AdminId id = AdminId::create();
    try {
        tx.execute(kInsert, id, email, now);
    } catch (const DbError& error) {
        if (error.kind() != DbError::Kind::Duplicate) throw;
        throw db::RetryTransaction{"another operator has just added the same admin"};
    }
    return id;
}

bool insert_seat(db::OrgStore& org, AdminId admin, std::string_view role, Timestamp now) {
    static constexpr OrgSql kInsert{
        "seats.insert",
        "INSERT INTO seats (organization_id, admin_id, role, created_at) VALUES (:org, ?, ?, ?)"};
    try {
        org.execute(kInsert, admin, role, now);
        return true;
    } catch (const DbError& error) {
        if (error.kind() != DbError::Kind::Duplicate) throw;
        return false;
    }
}

}  // namespace muster::store
