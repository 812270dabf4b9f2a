// The members that an import added, as a source for lists of members (rows.cpp).
#pragma once

#include "service/members/filter.hpp"

namespace muster::service {

// The users of the rows that the job created or attached, in the order of the rows. Rows that were
// undone are left out. A job that was deleted, or of another organization, has no users.
MemberSource members_of_import(ImportId job);

}  // namespace muster::service
