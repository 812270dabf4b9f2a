#include "store/organization/status.hpp"

namespace muster::store {

using db::OrgSql;

void end_job_leases(db::OrgStore& org) {
    static constexpr OrgSql kEndImport{
        "organization_status.end_import_lease",
        "UPDATE import_jobs FORCE INDEX (active_job) SET "
        "attempts = GREATEST(attempts - (lease_owner IS NOT NULL), 0), "
        "lease_owner = NULL, lease_until = 0, revision = revision + 1 WHERE organization_id = :org AND active_job = 1"};
    static constexpr OrgSql kEndMemberJob{
        "organization_status.end_member_job_lease",
        "UPDATE member_jobs FORCE INDEX (active_job) SET "
        "attempts = GREATEST(attempts - (lease_owner IS NOT NULL), 0), "
        "lease_owner = NULL, lease_until = 0 WHERE organization_id = :org AND active_job = 1"};
    org.execute(kEndImport);
    org.execute(kEndMemberJob);
}

}  // namespace muster::store
