// The lock of an organization, for bounds on the number of its records.
#pragma once

namespace muster::db {
class OrgStore;
}

namespace muster::store {

// Locks the organization until the transaction ends, for example to count its records before adding
// one. Inserting a row that refers to the organization waits for the lock, so hold it only briefly.
// False if the organization does not exist.
bool lock_organization(db::OrgStore& org);

}  // namespace muster::store
