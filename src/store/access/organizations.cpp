#include "store/access/organizations.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kOrganization = columns<rules::Organization>(
    column<&rules::Organization::id>("id"), column<&rules::Organization::name>("name"),
    column<&rules::Organization::created_at>("created_at"));

}  // namespace

void insert_organization(db::Tx& tx, const rules::Organization& organization) {
    static constexpr SystemSql kInsert{
        "organizations.insert", Why{"inserts the tenant itself"},
        "INSERT INTO organizations (id, name, created_at) VALUES (?, ?, ?)"};
    tx.execute(kInsert, organization.id, organization.name, organization.created_at);
}

std::vector<rules::Organization> list_organizations(db::Tx& tx) {
    static constexpr SystemSql kList{"organizations.list",
                                     Why{"the operator's list of all tenants"}, kOrganization,
                                     "SELECT {columns} FROM organizations ORDER BY id"};
    return tx.all(kList);
}

std::vector<OrgId> find_organizations_named(db::Tx& tx, std::string_view name, int limit) {
    static constexpr SystemSql kFind{
        "organizations.find_named", Why{"the operator names a tenant"}, kOrganization,
        "SELECT {columns} FROM organizations WHERE name = ? ORDER BY id LIMIT ?"};
    std::vector<OrgId> ids;
    for (const auto& organization : tx.all(kFind, name, limit)) ids.push_back(organization.id);
    return ids;
}

std::optional<rules::Organization> find_organization(db::OrgStore& org) {
    static constexpr OrgSql kFind{"organizations.find", kOrganization,
                                  "SELECT {columns} FROM organizations WHERE id = :org"};
    return org.one(kFind);
}

bool lock_organization(db::OrgStore& org) {
    static constexpr OrgSql kLock{"organizations.lock",
                                  "SELECT 1 FROM organizations WHERE id = :org FOR UPDATE"};
    return org.exists(kLock);
}

}  // namespace muster::store
