// Keys of members in the order of one index, for the pages of GET /v1/users
// (service/members/list.cpp). Each function reads at most `limit` entries of its index after a
// position, independent of the number of members.
#pragma once

#include "db/transaction.hpp"
#include "rules/members/filter.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace muster::store {

// A position in an index: the indexed term ("" if the index is ordered by user_id only) and the
// user_id.
struct MemberKey {
    std::string term;
    UserId user_id;
    bool is_hit = true;  // false: the member is listed at another of its terms
};

// At most one key. `email` must be normalized.
std::vector<MemberKey> find_member_key(db::OrgStore& org, std::string_view email);
// Ordered by user_id, after `after`.
std::vector<MemberKey> page_members(db::OrgStore& org, const UserId& after, int limit);
// Ordered by the member's id, descending, before `before`. The terms are the 16 bytes of that id.
std::vector<MemberKey> page_newest_members(db::OrgStore& org, const MemberId& before, int limit);
std::vector<MemberKey> page_members_of_status(db::OrgStore& org, std::string_view status,
                                              const UserId& after, int limit);
std::vector<MemberKey> page_members_of_external_id(db::OrgStore& org, std::string_view external_id,
                                                   const UserId& after, int limit);
// Ordered by (updated_at, user_id), after that position. The terms are milliseconds.
std::vector<MemberKey> page_members_updated(db::OrgStore& org, Timestamp when, const UserId& after,
                                            int limit);
// Ordered by (term, user_id), after `after`. Terms are the member's email, search_name and
// last_name that begin with `prefix`; case and accents are ignored, as in the collation of the
// columns. A member appears once per matching term; is_hit is true only for the first one.
std::vector<MemberKey> page_members_by_prefix(db::OrgStore& org, std::string_view prefix,
                                              const MemberKey& after, int limit);

// Conditions in addition to that of the index; nullopt = any.
struct MemberConditions {
    std::optional<std::string> external_id;
    std::optional<std::string> status;
    std::optional<Timestamp> updated_since;
    std::optional<std::string> prefix;
    std::optional<std::string> country = {};
    std::optional<std::string> email = {};  // normalized

    bool empty() const {
        return !external_id && !status && !updated_since && !prefix && !country && !email;
    }
};
// The users among these (one or more) who meet all conditions, with the ids of their memberships.
std::unordered_map<UserId, MemberId> filter_members(db::OrgStore& org,
                                                    std::span<const UserId> users,
                                                    const MemberConditions& conditions);
// The users among these (one or more) whose attribute has the value. `bytes`: the size of the
// documents that were read.
struct AttributeMatches {
    std::unordered_set<UserId> users;
    std::size_t bytes = 0;
};
AttributeMatches match_attribute(db::OrgStore& org, std::span<const UserId> users,
                                 const rules::AttributeCondition& condition);

// The bytes of the attributes of the members among these users.
using MemberSizes = std::unordered_map<UserId, std::int64_t>;
MemberSizes find_member_sizes(db::OrgStore& org, std::span<const UserId> users);
// Locks the members until the transaction ends.
MemberSizes lock_member_sizes(db::OrgStore& org, std::span<const UserId> users);

}  // namespace muster::store
