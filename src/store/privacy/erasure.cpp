#include "store/privacy/erasure.hpp"

#include "rules/imports/states.hpp"

#include <algorithm>

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;
using rules::BlockKey;

namespace {

constexpr auto kMembership =
    columns<PersonalMembership>(column<&PersonalMembership::organization>("organization_id"),
                                column<&PersonalMembership::member>("id"));

constexpr auto kCounted =
    columns<CountedEvents>(column<&CountedEvents::organization>("organization_id"),
                           column<&CountedEvents::count>("COUNT(*)"));

constexpr auto kScanned = columns<ScannedBlock>(
    column<&ScannedBlock::place, &BlockPosition::job>("job_id"),
    column<&ScannedBlock::place, &BlockPosition::key, &BlockKey::number>("block_no"),
    column<&ScannedBlock::place, &BlockPosition::key, &BlockKey::part>("part"),
    // A row that staging kept with its faults has texts in any case, so only the domain is
    // compared, without case. U+212A and U+017F fold to k and s.
    column<&ScannedBlock::may_match>(
        "LOCATE(?, data) > 0 OR (invalid_count > 0 AND LOCATE(CONVERT(? USING latin1), "
        "REPLACE(REPLACE(CONVERT(data USING latin1), _latin1 X'E284AA', 'k'), "
        "_latin1 X'C5BF', 's')) > 0)"));

constexpr auto kReply = columns<ScannedReply>(
    column<&ScannedReply::key_hash>("key_hash"),
    column<&ScannedReply::contains_text>("sealed = FALSE AND LOCATE(?, body) > 0"));

}  // namespace

std::vector<PersonalMembership> find_memberships_of(db::Tx& tx, UserId user) {
    static constexpr SystemSql kFind{"erasure.find_memberships",
                                     Why{"a person is erased from all organizations at once"},
                                     kMembership,
                                     "SELECT {columns} FROM members FORCE INDEX (members_user) "
                                     "WHERE user_id = ? ORDER BY organization_id"};
    return tx.all(kFind, user);
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
    static constexpr OrgSql kCount{
        "erasure.count_engagement_events",
        "SELECT COUNT(*) FROM engagement_events FORCE INDEX (member_events) "
        "WHERE organization_id = :org AND member_id = ?"};
    return org.value<std::int64_t>(kCount, member);
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
        kCounted,
        "SELECT {columns} FROM webhook_events FORCE INDEX (about_user) WHERE user_id = ? "
        "GROUP BY organization_id ORDER BY organization_id"};
    return tx.all(kCount, user);
}

std::int64_t delete_webhook_events(db::OrgStore& org, UserId user, int limit) {
    static constexpr OrgSql kDelete{"erasure.delete_webhook_events",
                                    "DELETE FROM webhook_events "
                                    "WHERE organization_id = :org AND user_id = ? LIMIT ?"};
    return org.execute(kDelete, user, limit);
}

std::vector<OrgId> find_inviting_organizations(db::Tx& tx, std::string_view email) {
    static constexpr SystemSql kFind{
        "erasure.find_invitations", Why{"a person is erased from all organizations at once"},
        "SELECT organization_id FROM seat_invitations FORCE INDEX (address) WHERE email = ? "
        "ORDER BY organization_id"};
    return tx.all<OrgId>(kFind, email);
}

void delete_invitation_of(db::OrgStore& org, std::string_view email) {
    static constexpr OrgSql kDelete{
        "erasure.delete_invitation",
        "DELETE FROM seat_invitations WHERE organization_id = :org AND email = ?"};
    org.execute(kDelete, email);
}

bool is_admin_address(db::Tx& tx, std::string_view email) {
    static constexpr SystemSql kFind{"erasure.find_admin",
                                     Why{"admins belong to no tenant; their seats do"},
                                     "SELECT 1 FROM admins WHERE email = ?"};
    return tx.exists(kFind, email);
}

std::vector<ScannedBlock> scan_blocks(db::OrgStore& org, const std::optional<BlockPosition>& after,
                                      std::string_view email, int limit) {
    static constexpr OrgSql kScan{
        "erasure.scan_blocks", kScanned,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND (job_id > ? OR (job_id = ? AND "
        "(block_no > ? OR (block_no = ? AND part > ?)))) ORDER BY job_id, block_no, part LIMIT ?"};
    const BlockPosition from = after.value_or(BlockPosition{});
    const std::string_view domain = email.substr(std::min(email.find('@'), email.size()));
    return org.all(kScan, email, domain, from.job, from.job, from.key.number, from.key.number,
                   from.key.part, limit);
}

std::optional<rules::ImportState> lock_import_state(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kLock{
        "erasure.lock_import_state",
        "SELECT state FROM import_jobs WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one<rules::ImportState>(kLock, id);
}

void replace_block_data(db::OrgStore& org, const BlockPosition& place, std::string_view data) {
    static constexpr OrgSql kReplace{
        "erasure.replace_block_data",
        "UPDATE import_blocks SET data = ? WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ?"};
    org.execute(kReplace, data, place.job, place.key.number, place.key.part);
}

std::vector<ScannedReply> scan_replies(db::OrgStore& org, std::string_view after,
                                       std::string_view text, int limit) {
    static constexpr OrgSql kScan{
        "erasure.scan_replies", kReply,
        "SELECT {columns} FROM idempotency_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND key_hash > ? ORDER BY key_hash LIMIT ?"};
    return org.all(kScan, text, after, limit);
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
