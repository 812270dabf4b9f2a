#include "store/access/organizations.hpp"

namespace muster::store {

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

bool lock_organization(db::OrgStore& org) {
    static constexpr OrgSql kLock{"organizations.lock",
                                  "SELECT 1 FROM organizations WHERE id = :org FOR UPDATE"};
    return org.query(kLock).next();
}

}  // namespace muster::store
