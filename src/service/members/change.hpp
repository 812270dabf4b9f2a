// Changes of one member that stands: PATCH, lock, unlock and DELETE of /v1/users/{userId}. Each
// locks the member's row first, so that changes of different fields side by side all survive.
#pragma once

#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::service {

// All of these throw NOT_FOUND for a user who is no member of the organization. updated_at moves
// only where something changed.

// Overwrites. `check` sees the member before the change, under the lock, and may throw. Attributes
// are judged against the live registry: VALIDATION_ERROR.
rules::Member change_member(OrgTransaction& transaction, UserId user,
                            const rules::MemberPatch& patch,
                            const std::function<void(const rules::Member&)>& check);

// A member who is locked keeps the first reason and time.
rules::Member lock_member(OrgTransaction& transaction, UserId user,
                          const std::optional<std::string>& reason);
rules::Member unlock_member(OrgTransaction& transaction, UserId user);

// Ends the membership, with all that the organization knows of the user. The user stays.
void remove_member(OrgTransaction& transaction, UserId user);

}  // namespace muster::service
