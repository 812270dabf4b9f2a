// Changes of one existing member: PATCH, lock, unlock and DELETE of /v1/users/{userId}. Each locks
// the member's row first, so that concurrent changes of different fields are all kept.
#pragma once

#include "rules/members/actions.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace muster::rules {
struct Member;
struct MemberPatch;
}  // namespace muster::rules

namespace muster::service {

struct MemberFilter;

// All functions throw NOT_FOUND if the user is not a member of the organization. `updated_at`
// changes only if a value does.

// change_member(), lock_member() and unlock_member() count MemberBytes; the caller rejects an
// organization that has used them up. A member can always be removed.

// Called under the lock with the member before the change; may throw.
using MemberCheck = std::function<void(const rules::Member&)>;

// Overwrites fields. Throws VALIDATION_ERROR if an attribute is invalid in the current registry.
rules::Member change_member(OrgTransaction& transaction, UserId user,
                            const rules::MemberPatch& patch, const MemberCheck& check = {});

// Locks the member. A locked member keeps the first reason and time.
rules::Member lock_member(OrgTransaction& transaction, UserId user,
                          const std::optional<std::string>& reason, const MemberCheck& check = {});
rules::Member unlock_member(OrgTransaction& transaction, UserId user,
                            const MemberCheck& check = {});

// Deletes the membership with its attributes and ad counts. Engagement events lose their link.
// Webhook events and recorded replies remain until they expire. Does not delete the user.
void remove_member(OrgTransaction& transaction, UserId user, const MemberCheck& check = {});

// Numbers of members.
struct MemberChanges {
    std::int64_t changed = 0;
    std::int64_t unchanged = 0;  // a lock of a locked member, an unlock of an active one
};
// Locks those of the users who are members, and changes those that then match the filter, whatever
// its source. Each change has its audit entry and its event; the number of statements is bounded.
// Counts MemberBytes.
MemberChanges change_matching_members(OrgTransaction& transaction, std::span<const UserId> users,
                                      const MemberFilter& filter, rules::MemberAction action,
                                      const std::optional<std::string>& reason);

}  // namespace muster::service
