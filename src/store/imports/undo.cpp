#include "store/imports/undo.hpp"

#include <bit>
#include <vector>

namespace muster::store {

using db::OrgSql;
using db::Param;

void add_undo_counts(db::OrgStore& org, ImportId job, const rules::ImportUndo& more) {
    static constexpr OrgSql kAdd{
        "imports.add_undo_counts",
        "UPDATE import_undos SET removed_count = removed_count + ?, "
        "detached_count = detached_count + ?, emptied_count = emptied_count + ?, "
        "kept_count = kept_count + ?, unaffected_count = unaffected_count + ? "
        "WHERE organization_id = :org AND job_id = ?"};
    org.execute(kAdd, more.removed, more.detached, more.emptied, more.kept, more.unaffected, job);
}

std::unordered_set<MemberId> find_members_with_events(db::OrgStore& org,
                                                      std::span<const MemberId> members) {
    // The first event of each member is enough.
    static constexpr OrgSql kFind{
        "imports.find_members_with_events",
        "SELECT m.id FROM members m FORCE INDEX (member) WHERE m.organization_id = :org "
        "AND m.id IN ({?}) AND EXISTS (SELECT 1 FROM engagement_events e "
        "FORCE INDEX (member_events) WHERE e.organization_id = m.organization_id "
        "AND e.member_id = m.id)"};
    std::unordered_set<MemberId> found;
    if (members.empty()) return found;
    // One statement for all members of a block, which has more rows than in_batches() takes at
    // once.
    std::vector<Param> params(members.begin(), members.end());
    params.resize(std::bit_ceil(params.size()), params.back());
    for (const MemberId member : org.each_bulk<MemberId>(kFind, params.size(), params)) {
        found.insert(member);
    }
    return found;
}

}  // namespace muster::store
