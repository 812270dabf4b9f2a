// What is kept of a person, wherever that is: found and removed for service/privacy/erasure.cpp.
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/block_key.hpp"
#include "rules/imports/states.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

struct PersonalMembership {
    OrgId organization;
    MemberId member;
};
// In all organizations. Complete as long as the caller holds the user's lock.
std::vector<PersonalMembership> find_memberships_of(db::Tx& tx, UserId user);
// With every member row.
void delete_user(db::Tx& tx, UserId user);

// What tells of the person beside the member row: engagement events of the membership, webhook
// events about the user (whose deliveries and attempts go with them).
std::int64_t count_engagement_events(db::OrgStore& org, MemberId member);
// At most `limit`; how many went.
std::int64_t delete_engagement_events(db::OrgStore& org, MemberId member, int limit);
struct CountedEvents {
    OrgId organization;
    std::int64_t count = 0;
};
// The organizations that have some, members of theirs or not.
std::vector<CountedEvents> count_webhook_events(db::Tx& tx, UserId user);
std::int64_t delete_webhook_events(db::OrgStore& org, UserId user, int limit);

bool is_admin_address(db::Tx& tx, std::string_view email);

struct BlockPlace {
    ImportId job;
    rules::BlockKey key;
};
struct ScannedBlock {
    BlockPlace place;
    bool holds_text = false;
};
// The organization's next blocks behind `after`, in the order of jobs and keys, and whether these
// bytes stand in them.
std::vector<ScannedBlock> scan_blocks(db::OrgStore& org, const std::optional<BlockPlace>& after,
                                      std::string_view text, int limit);
// Whether or not its retention is over; nullopt when the purge took it. Nobody moves it while the
// transaction runs.
std::optional<rules::ImportState> lock_import_state(db::OrgStore& org, ImportId id);
// The same rows, written anew; the caller holds the job's lock.
void replace_block_data(db::OrgStore& org, const BlockPlace& place, std::string_view data);

struct ScannedReply {
    std::string key_hash;
    bool holds_text = false;
};
// The organization's next recorded replies behind the hash `after`, in the order of hashes, and
// whether these bytes stand in the body. A sealed body holds no address.
std::vector<ScannedReply> scan_replies(db::OrgStore& org, std::string_view after,
                                       std::string_view text, int limit);
// Those of these that still hold the text; how many went.
std::int64_t delete_replies(db::OrgStore& org, std::span<const std::string> key_hashes,
                            std::string_view text);

}  // namespace muster::store
