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

void end_job_leases(Context& context, OrgId organization) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        store::end_job_leases(org);
    });
}

bool disable_organization(Context& context, OrgId organization) {
    const bool is_new = context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (lock_state(org) != OrganizationState::Active) return false;
        const Timestamp now = Timestamp::now();
        store::set_organization_disabled(org, now);
        audit_operator(tx, organization, "organization.disabled", organization.text(), {}, now);
        return true;
    });
    end_job_leases(context, organization);
    return is_new;
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
