// The members that an import added, as a source for lists of members (rows.cpp).
#pragma once

#include "service/members/filter.hpp"

namespace muster::service {

// The users of the rows that the job created or attached, in the order of the rows. The rows of an
// undo, and those of a job that was deleted or belongs to another organization, are none.
MemberSource members_of_import(ImportId job);

}  // namespace muster::service
