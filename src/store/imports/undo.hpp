// What only an undo reads and writes: the members with events, and the job's counts.
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/jobs.hpp"

#include <span>
#include <unordered_set>

namespace muster::store {

// Adds to the counts of the job's undo. The caller has just written the job, so it holds the job's
// lock.
void add_undo_counts(db::OrgStore& org, ImportId job, const rules::ImportUndo& more);

// The members among these that have engagement events.
std::unordered_set<MemberId> find_members_with_events(db::OrgStore& org,
                                                      std::span<const MemberId> members);

}  // namespace muster::store
