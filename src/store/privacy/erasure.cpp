#include "store/privacy/erasure.hpp"

#include <stdexcept>

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

std::vector<PersonalMembership> find_memberships_of(db::Tx& tx, UserId user) {
    static constexpr SystemSql kFind{
        "erasure.find_memberships", Why{"a person is erased from all organizations at once"},
        "SELECT organization_id, id FROM members WHERE user_id = ? ORDER BY organization_id"};
    std::vector<PersonalMembership> found;
    for (auto rows = tx.query(kFind, user); rows.next();) {
        found.push_back({rows.id<OrgId>(1), rows.id<MemberId>(2)});
    }
    return found;
}

void delete_user(db::Tx& tx, UserId user) {
    static constexpr SystemSql kMembers{"erasure.delete_members",
                                        Why{"a person is erased from all organizations at once"},
                                        "DELETE FROM members WHERE user_id = ?"};
    static constexpr SystemSql kUser{"erasure.delete_user",
                                     Why{"the identity is global and belongs to no tenant"},
                                     "DELETE FROM users WHERE id = ?"};
    tx.execute(kMembers, user);
    tx.execute(kUser, user);
}

std::int64_t count_engagement_events(db::OrgStore& org, MemberId member) {
    static constexpr OrgSql kCount{"erasure.count_engagement_events",
                                   "SELECT COUNT(*) FROM engagement_events "
                                   "WHERE organization_id = :org AND member_id = ?"};
    auto rows = org.query(kCount, member);
    rows.next();
    return rows.integer(1);
}

std::int64_t delete_engagement_events(db::OrgStore& org, MemberId member, int limit) {
    static constexpr OrgSql kDelete{"erasure.delete_engagement_events",
                                    "DELETE FROM engagement_events "
                                    "WHERE organization_id = :org AND member_id = ? LIMIT ?"};
    return org.execute(kDelete, member, limit);
}

std::vector<CountedEvents> count_webhook_events(db::Tx& tx, UserId user) {
    static constexpr SystemSql kCount{
        "erasure.count_webhook_events", Why{"a person is erased from all organizations at once"},
        "SELECT organization_id, COUNT(*) FROM webhook_events WHERE user_id = ? "
        "GROUP BY organization_id ORDER BY organization_id"};
    std::vector<CountedEvents> counted;
    for (auto rows = tx.query(kCount, user); rows.next();) {
        counted.push_back({rows.id<OrgId>(1), rows.integer(2)});
    }
    return counted;
}

std::int64_t delete_webhook_events(db::OrgStore& org, UserId user, int limit) {
    static constexpr OrgSql kDelete{"erasure.delete_webhook_events",
                                    "DELETE FROM webhook_events "
                                    "WHERE organization_id = :org AND user_id = ? LIMIT ?"};
    return org.execute(kDelete, user, limit);
}

bool is_admin_address(db::Tx& tx, std::string_view email) {
    static constexpr SystemSql kFind{"erasure.find_admin",
                                     Why{"an admin belongs to no tenant, a seat does"},
                                     "SELECT 1 FROM admins WHERE email = ?"};
    return tx.query(kFind, email).next();
}

std::vector<ScannedBlock> scan_blocks(db::OrgStore& org, const std::optional<BlockPlace>& after,
                                      std::string_view text, int limit) {
    static constexpr OrgSql kScan{
        "erasure.scan_blocks",
        "SELECT job_id, block_no, part, LOCATE(?, data) > 0 FROM import_blocks "
        "WHERE organization_id = :org AND (job_id > ? OR (job_id = ? AND "
        "(block_no > ? OR (block_no = ? AND part > ?)))) ORDER BY job_id, block_no, part LIMIT ?"};
    const BlockPlace from = after.value_or(BlockPlace{});
    std::vector<ScannedBlock> scanned;
    auto rows = org.query(kScan, text, from.job, from.job, from.key.number, from.key.number,
                          from.key.part, limit);
    while (rows.next()) {
        const rules::BlockKey key{static_cast<std::uint32_t>(rows.integer(2)),
                                  static_cast<int>(rows.integer(3))};
        scanned.push_back({{rows.id<ImportId>(1), key}, rows.integer(4) != 0});
    }
    return scanned;
}

std::optional<rules::ImportState> lock_import_state(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kLock{
        "erasure.lock_import_state",
        "SELECT state FROM import_jobs WHERE organization_id = :org AND id = ? FOR UPDATE"};
    auto rows = org.query(kLock, id);
    if (!rows.next()) return std::nullopt;
    const auto state = rules::import_state(rows.bytes(1));
    if (!state) throw std::runtime_error("an import job in an unknown state");
    return state;
}

void replace_block_data(db::OrgStore& org, const BlockPlace& place, std::string_view data) {
    static constexpr OrgSql kReplace{
        "erasure.replace_block_data",
        "UPDATE import_blocks SET data = ? WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ?"};
    org.execute(kReplace, data, place.job, place.key.number, place.key.part);
}

std::vector<ScannedReply> scan_replies(db::OrgStore& org, std::string_view after,
                                       std::string_view text, int limit) {
    static constexpr OrgSql kScan{
        "erasure.scan_replies",
        "SELECT key_hash, sealed = FALSE AND LOCATE(?, body) > 0 FROM idempotency_keys "
        "WHERE organization_id = :org AND key_hash > ? ORDER BY key_hash LIMIT ?"};
    std::vector<ScannedReply> scanned;
    for (auto rows = org.query(kScan, text, after, limit); rows.next();) {
        scanned.push_back({rows.bytes(1), rows.integer(2) != 0});
    }
    return scanned;
}

std::int64_t delete_replies(db::OrgStore& org, std::span<const std::string> key_hashes,
                            std::string_view text) {
    static constexpr OrgSql kDelete{
        "erasure.delete_replies",
        "DELETE FROM idempotency_keys WHERE organization_id = :org AND sealed = FALSE "
        "AND LOCATE(?, body) > 0 AND key_hash IN ({?})"};
    std::vector<Param> params{text};
    params.insert(params.end(), key_hashes.begin(), key_hashes.end());
    return org.execute_bulk(kDelete, key_hashes.size(), params);
}

}  // namespace muster::store
