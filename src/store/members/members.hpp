// Users (the global identity) and members (what one organization knows of them): the set-based
// statements under create-or-attach (specification 3.4), and reads.
#pragma once

#include "db/transaction.hpp"
#include "rules/members/member.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::store {

struct NewUser {
    UserId id;
    std::string_view email;
};
// Inserts those whose address is free and locks the rows of those whose is not. How many were new.
std::int64_t insert_users(db::Tx& tx, std::span<const NewUser> users, Timestamp now);

using UsersByEmail = std::unordered_map<std::string, UserId>;
enum class UserLock : std::uint8_t { None, ForUpdate };
// The users of these addresses.
UsersByEmail find_users(db::Tx& tx, std::span<const std::string_view> emails, UserLock lock);

// What a member has, as far as filling gaps asks.
struct Membership {
    std::array<bool, rules::kTextFieldCount> has_text{};
    std::string attributes;
};
// Those of these users who are members.
std::unordered_map<UserId, Membership> find_memberships(db::OrgStore& org,
                                                        std::span<const UserId> users);

// How many of these distinct addresses are users, and how many of those members of the
// organization.
struct KnownCounts {
    std::int64_t users = 0;
    std::int64_t members = 0;
};
KnownCounts count_known(db::OrgStore& org, std::span<const std::string_view> emails);

struct NewMember {
    UserId user_id;
    MemberId member_id;
    std::string_view email;                                      // the user's
    std::array<std::string_view, rules::kTextFieldCount> texts;  // "" = absent
    std::string_view attributes;                                 // a document
};
// Inserts members who are none yet.
void insert_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now);
// Inserts members; of those who are members already only NULL columns and missing attributes are
// filled, by the statement itself. updated_at moves only where something was filled.
void fill_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now);

std::optional<rules::Member> find_member(db::OrgStore& org, UserId user);
// Those of these users (1 or more) who are members, in any order.
std::vector<rules::Member> find_members(db::OrgStore& org, std::span<const UserId> users);

// The same row as find_member() reads, which nobody else changes until the transaction ends.
std::optional<rules::Member> lock_member(db::OrgStore& org, UserId user);
// Writes all of a locked member that can change.
void update_member(db::OrgStore& org, const rules::Member& member);
// False when the user was no member. The user stays.
bool delete_member(db::OrgStore& org, UserId user);

}  // namespace muster::store
