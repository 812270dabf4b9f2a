#include "store/organization_lock.hpp"

#include "db/transaction.hpp"

namespace muster::store {

bool lock_organization(db::OrgStore& org) {
    static constexpr db::OrgSql kLock{"organizations.lock",
                                      "SELECT 1 FROM organizations WHERE id = :org FOR UPDATE"};
    return org.exists(kLock);
}

}  // namespace muster::store
