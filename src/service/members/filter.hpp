// Which members to list, and in which order.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/members/filter.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
class Faults;
}
namespace muster::db {
class OrgStore;
class Tx;
}  // namespace muster::db

namespace muster::service {

enum class MemberOrder : std::uint8_t {
    Filter,  // the order of the index that serves the filter
    Newest,  // by the member's id, descending
    Stable,  // as Filter, but no change of a member moves it: by user id instead of updated_at
};

// Memberships in an order that no index of the members has, such as the rows of an import. A user
// who left and came back has another membership with another id.
struct SourcedMember {
    UserId user;
    std::string place;
    MemberId until;  // the largest id that the membership can have
};
struct SourcedMembers {
    std::vector<SourcedMember> members;  // they may be none of the organization's memberships
    bool has_more = true;
};
// The next ones after a place ("" at the beginning), at most `limit`. Fewer do not mean the end.
using MemberSource =
    std::function<SourcedMembers(db::OrgStore& org, std::string_view after, int limit)>;

// An absent condition matches every member. The first condition given, in the order source, email,
// external_id, prefix, updated_since, status, decides which index is read. Newest replaces
// the index of the status; the others cannot be read in this order (serves_newest).
struct MemberFilter {
    std::optional<std::string> email;  // normalized
    std::optional<std::string> external_id;
    // Of the email address, the full name or last_name. It had 1 to 255 characters before it was
    // composed.
    std::optional<std::string> prefix;
    std::optional<Timestamp> updated_since;
    std::optional<std::string> status;
    MemberOrder order = MemberOrder::Filter;
    std::optional<std::string> country = {};
    std::vector<rules::AttributeCondition> attributes = {};
    MemberSource source = {};

    // Whether these conditions can be listed with the newest members first. An address has one
    // member at most.
    bool serves_newest() const { return !external_id && !prefix && !updated_since && !source; }
};

// The users of a longer run of the list.
struct MemberRun {
    std::vector<UserId> users;
    std::vector<std::string> positions;  // after each of the users
    std::optional<std::string> next;     // after all of them; nullopt at the end of the list
};
// Reads a run in an open transaction, and examines at most 250 members (list.cpp).
MemberRun find_next_members(db::OrgStore& org, const MemberFilter& filter,
                            std::string_view position, int limit);
// The users among these who still match the filter, without its source.
std::vector<UserId> matching_members(db::OrgStore& org, std::span<const UserId> users,
                                     const MemberFilter& filter);

// The conditions for texts by key, with the organization's registry (rules/members/filter.hpp,
// list.cpp).
std::vector<rules::AttributeCondition> attribute_conditions(
    db::Tx& tx, OrgId organization, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults);
std::vector<rules::AttributeCondition> attribute_conditions(
    Context& context, OrgId organization, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults);

}  // namespace muster::service
