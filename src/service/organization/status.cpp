#include "service/organization/status.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"
#include "service/audit.hpp"
#include "store/access/organizations.hpp"
#include "store/organization/status.hpp"

#include <stdexcept>

namespace muster::service {

using rules::OrganizationState;

namespace {

OrganizationState lock_state(db::OrgStore& org) {
    const auto organization = store::read_and_lock_organization(org);
    if (!organization) throw Error(ErrorCode::NotFound);
    return organization->state;
}

}  // namespace

bool disable_organization(Context& context, OrgId organization) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        // A runner that works for it notices at its next step. Before the organization's lock,
        // because the unit of a job also locks its job first.
        store::end_job_leases(org);
        if (lock_state(org) != OrganizationState::Active) return false;
        const Timestamp now = Timestamp::now();
        store::set_organization_disabled(org, now);
        // Of a job that began before the lock.
        store::end_job_leases(org);
        audit_operator(tx, organization, "organization.disabled", organization.text(), {}, now);
        return true;
    });
}

bool enable_organization(Context& context, OrgId organization) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const OrganizationState state = lock_state(org);
        if (state == OrganizationState::Active) return false;
        if (state == OrganizationState::Deleting) {
            throw std::invalid_argument("organization " + organization.text() +
                                        " is being deleted; it cannot be enabled");
        }
        store::set_organization_disabled(org, std::nullopt);
        audit_operator(tx, organization, "organization.enabled", organization.text(), {},
                       Timestamp::now());
        return true;
    });
}

}  // namespace muster::service
