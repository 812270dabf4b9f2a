#include "store/access/organizations.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kOrganization = columns<rules::Organization>(
    column<&rules::Organization::id>("o.id"), column<&rules::Organization::name>("o.name"),
    column<&rules::Organization::created_at>("o.created_at"),
    column<&rules::Organization::state>(
        "CASE WHEN o.disabled_at IS NULL THEN 'active' WHEN EXISTS (SELECT 1 FROM "
        "organization_deletions d WHERE d.organization_id = o.id) THEN 'deleting' "
        "ELSE 'disabled' END"));

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
                                     "SELECT {columns} FROM organizations o ORDER BY o.id"};
    return tx.all(kList);
}

std::vector<rules::Organization> find_organizations_named(db::Tx& tx, std::string_view name,
                                                          int limit) {
    static constexpr SystemSql kFind{
        "organizations.find_named", Why{"the operator names a tenant"}, kOrganization,
        "SELECT {columns} FROM organizations o WHERE o.name = ? ORDER BY o.id LIMIT ?"};
    return tx.all(kFind, name, limit);
}

std::optional<rules::Organization> find_organization(db::OrgStore& org) {
    static constexpr OrgSql kFind{"organizations.find", kOrganization,
                                  "SELECT {columns} FROM organizations o WHERE o.id = :org"};
    return org.one(kFind);
}

std::optional<rules::Organization> read_and_lock_organization(db::OrgStore& org) {
    static constexpr OrgSql kRead{
        "organizations.read_and_lock", kOrganization,
        "SELECT {columns} FROM organizations o WHERE o.id = :org FOR UPDATE"};
    return org.one(kRead);
}

void set_organization_name(db::OrgStore& org, std::string_view name) {
    static constexpr OrgSql kSet{"organizations.set_name",
                                 "UPDATE organizations SET name = ? WHERE id = :org"};
    org.execute(kSet, name);
}

void set_organization_disabled(db::OrgStore& org, std::optional<Timestamp> since) {
    static constexpr OrgSql kSet{"organizations.set_disabled",
                                 "UPDATE organizations SET disabled_at = ? WHERE id = :org"};
    org.execute(kSet, since);
}

}  // namespace muster::store
