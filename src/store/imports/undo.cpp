#include "store/imports/undo.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;

namespace {

constexpr auto kCommittedKey =
    columns<BlockKey>(column<&BlockKey::number>("block_no"), column<&BlockKey::part>("part"));

constexpr auto kCommittedRows = columns<CommittedRows>(
    nested<&CommittedRows::key>(kCommittedKey), column<&CommittedRows::created>("created_count"),
    column<&CommittedRows::attached>("attached_count"),
    column<&CommittedRows::merged>("merged_count"));

constexpr auto kCommittedBlock = columns<Block>(
    nested<&Block::key>(kCommittedKey), column<&Block::rows>("row_count"),
    column<&Block::staged_at>("staged_at"), column<&Block::updated_at>("updated_at"),
    column<&Block::data>("data"), converted<or_empty<std::string>, &Block::outcome>("outcome"));

}  // namespace

std::vector<BlockKey> find_committed_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                            int limit) {
    static constexpr OrgSql kFind{
        "import_blocks.find_committed", kCommittedKey,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) AND state = 'committed' "
        "AND created_count + attached_count + merged_count > 0 ORDER BY block_no, part LIMIT ?"};
    return org.all(kFind, job, from.number, from.number, from.part, limit);
}

std::vector<CommittedRows> count_committed_rows(db::OrgStore& org, ImportId job, int limit) {
    static constexpr OrgSql kCount{
        "import_blocks.count_committed", kCommittedRows,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? AND state = 'committed' "
        "AND created_count + attached_count + merged_count > 0 ORDER BY block_no, part LIMIT ?"};
    return org.all(kCount, job, limit);
}

std::optional<Block> lock_committed_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kLock{
        "import_blocks.lock_committed", kCommittedBlock,
        "SELECT {columns} FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ? AND state = 'committed' FOR UPDATE"};
    return org.one(kLock, job, key.number, key.part);
}

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
    const std::vector<Param> params(members.begin(), members.end());
    for (const MemberId member : org.each_bulk<MemberId>(kFind, params.size(), params)) {
        found.insert(member);
    }
    return found;
}

}  // namespace muster::store
