// Finds and deletes the stored data of a person, for service/privacy/erasure.cpp.
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/block_key.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
enum class ImportState : std::uint8_t;  // rules/imports/states.hpp
}

namespace muster::store {

struct PersonalMembership {
    OrgId organization;
    MemberId member;
};
// The memberships in all organizations. Complete while the caller holds the user's lock.
std::vector<PersonalMembership> find_memberships_of(db::Tx& tx, UserId user);
// Also deletes the user's members.
void delete_user(db::Tx& tx, UserId user);

// Data about the person outside the member row: engagement events of the membership, and webhook
// events about the user, with their deliveries and attempts.
std::int64_t count_engagement_events(db::OrgStore& org, MemberId member);
// Deletes at most `limit` events. Returns their number.
std::int64_t delete_engagement_events(db::OrgStore& org, MemberId member, int limit);
struct CountedEvents {
    OrgId organization;
    std::int64_t count = 0;
};
// The organizations that have such events, also if the user is not their member.
std::vector<CountedEvents> count_webhook_events(db::Tx& tx, UserId user);
std::int64_t delete_webhook_events(db::OrgStore& org, UserId user, int limit);

// The organizations that invited the address to a seat: each has at most one invitation of it.
std::vector<OrgId> find_inviting_organizations(db::Tx& tx, std::string_view email);
void delete_invitation_of(db::OrgStore& org, std::string_view email);
bool is_admin_address(db::Tx& tx, std::string_view email);

struct BlockPosition {
    ImportId job;
    rules::BlockKey key;
};
struct ScannedBlock {
    BlockPosition place;
    bool may_match = false;
};
// The organization's next blocks after `after`, ordered by job and key, and whether
// rules::redact_rows() may find the folded address in them.
std::vector<ScannedBlock> scan_blocks(db::OrgStore& org, const std::optional<BlockPosition>& after,
                                      std::string_view email, int limit);
// The state of the job, locked until the transaction ends, even if its retention time is over.
// nullopt if it was purged.
std::optional<rules::ImportState> lock_import_state(db::OrgStore& org, ImportId id);
// Replaces the bytes of a block by redacted ones. The caller holds the lock of the job.
void replace_block_data(db::OrgStore& org, const BlockPosition& place, std::string_view data);

struct ScannedReply {
    std::string key_hash;
    bool contains_text = false;
};
// The organization's next recorded replies after the hash `after`, ordered by hash, and whether
// their bodies contain these bytes. A sealed body contains no address.
std::vector<ScannedReply> scan_replies(db::OrgStore& org, std::string_view after,
                                       std::string_view text, int limit);
// Deletes the replies among these that still contain the text. Returns their number.
std::int64_t delete_replies(db::OrgStore& org, std::span<const std::string> key_hashes,
                            std::string_view text);

}  // namespace muster::store
