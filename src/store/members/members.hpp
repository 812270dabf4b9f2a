// Users (global identities) and members (their records in organizations): the bulk statements of
// create-or-attach (specification 3.4), and reads.
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
// Inserts users with new addresses and locks the rows of existing ones. Returns the number of new
// users.
std::int64_t insert_users(db::Tx& tx, std::span<const NewUser> users, Timestamp now);

using UsersByEmail = std::unordered_map<std::string, UserId>;
enum class UserLock : std::uint8_t { None, ForUpdate };
// The users with these addresses.
UsersByEmail find_users(db::Tx& tx, std::span<const std::string_view> emails, UserLock lock);

// The values of a member that matter for filling gaps: which fields are set, and the attributes.
struct Membership {
    std::array<bool, rules::kTextFieldCount> has_text{};
    // nullopt: not read, because they have more than 8 KiB. A member can have 800 KiB, and these
    // are the members of up to 500 rows.
    std::optional<std::string> attributes;
};
// The members among these users, locked until the transaction ends.
std::unordered_map<UserId, Membership> find_memberships(db::OrgStore& org,
                                                        std::span<const UserId> users);

// A user, and the values of its member if it is one.
struct KnownUser {
    UserId id;
    std::optional<Membership> membership;
};
// The users with these addresses, by address. Locks nothing.
std::unordered_map<std::string, KnownUser> find_known_users(
    db::OrgStore& org, std::span<const std::string_view> emails);

// The number of members with these addresses (without duplicates).
std::int64_t count_members_among(db::OrgStore& org, std::span<const std::string_view> emails);

struct NewMember {
    UserId user_id;
    MemberId member_id;
    std::string_view email;                                      // of the user
    std::array<std::string_view, rules::kTextFieldCount> texts;  // "" = absent
    std::string_view attributes;                                 // a document
};
// Inserts members. None of the users may be a member yet.
void insert_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now);
// Inserts members, or fills the NULL columns and missing attributes of existing members in the same
// statement. For an existing member, pass only attributes that it lacks: the statement is slow for
// others, and changes updated_at although it fills nothing.
void fill_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now);

// The members among these users (one or more), in any order.
std::vector<rules::Member> find_members(db::OrgStore& org, std::span<const UserId> users);

// Locked until the transaction ends.
std::optional<rules::Member> lock_member(db::OrgStore& org, UserId user);
// The members among these users, in any order, locked until the transaction ends.
std::vector<rules::Member> lock_members(db::OrgStore& org, std::span<const UserId> users);
// Writes all fields of a locked member that can change.
void update_member(db::OrgStore& org, const rules::Member& member);
// False if the user was not a member. Does not delete the user.
bool delete_member(db::OrgStore& org, UserId user);
// Deletes the members among these users, but not the users.
void delete_members(db::OrgStore& org, std::span<const UserId> users);

}  // namespace muster::store
