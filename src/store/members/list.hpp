// Keys of members in the order of one index, a bounded piece at a time: what pages of
// GET /v1/users are made from (service/members/list.cpp). Each function reads `limit` entries of
// its index behind a place, however many members there are.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace muster::store {

// Where a member stands in an index: its term there ("" where user_id alone is the order).
struct MemberKey {
    std::string term;
    UserId user_id;
    bool is_hit = true;  // false: this member counts at another of its terms
};

// At most one; `email` normalised.
std::vector<MemberKey> find_member_key(db::OrgStore& org, std::string_view email);
// By user_id, behind `after`.
std::vector<MemberKey> page_members(db::OrgStore& org, const UserId& after, int limit);
std::vector<MemberKey> page_members_of_status(db::OrgStore& org, std::string_view status,
                                              const UserId& after, int limit);
std::vector<MemberKey> page_members_of_external_id(db::OrgStore& org, std::string_view external_id,
                                                   const UserId& after, int limit);
// By (updated_at, user_id), behind that place. The terms are milliseconds.
std::vector<MemberKey> page_members_updated(db::OrgStore& org, Timestamp when, const UserId& after,
                                            int limit);
// By (term, user_id), behind `after`; the terms are those of a member's email, search_name and
// last_name that begin with `prefix`, ignoring case and accents as the columns' collation does. A
// member who has several comes as often, and is_hit at the first one only.
std::vector<MemberKey> page_members_by_prefix(db::OrgStore& org, std::string_view prefix,
                                              const MemberKey& after, int limit);

// Conditions beside the one that the index stands for; nullopt = any.
struct MemberConditions {
    std::optional<std::string> external_id;
    std::optional<std::string> status;
    std::optional<Timestamp> updated_since;
    std::optional<std::string> prefix;

    bool empty() const { return !external_id && !status && !updated_since && !prefix; }
};
// Those of these users (1 or more) who meet all of them.
std::unordered_set<UserId> filter_members(db::OrgStore& org, std::span<const UserId> users,
                                          const MemberConditions& conditions);

}  // namespace muster::store
