// Pages of members (GET /v1/users) at the same cost wherever they begin and whatever is filtered:
// one index is read in its order, and the other conditions filter the result.
#pragma once

#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// An absent condition matches every member. The first condition given, in the order email,
// external_id, prefix, updated_since, status, decides which index is read.
struct MemberFilter {
    std::optional<std::string> email;  // normalized
    std::optional<std::string> external_id;
    std::optional<std::string>
        prefix;  // 1 to 255 characters; of the email address, the full name or last_name
    std::optional<Timestamp> updated_since;
    std::optional<std::string> status;
};

struct MemberPage {
    std::vector<rules::Member> members;
    std::optional<std::string> next;  // the position of the next page; nullopt on the last page
};

// At most `limit` members after `position`, which is "" or the `next` of a page with the same
// filter. Ordered by user id; with a prefix by the matching term, with `updated_since` by that
// time. A page may hold fewer members although more follow, because it examines a bounded number of
// members and ends early if they are large. Throws std::invalid_argument if the position is not
// from a previous page.
MemberPage list_members(Context& context, OrgId organization, const MemberFilter& filter,
                        std::string_view position, int limit);

// The users of a longer run of the list, with the position after them.
struct MemberRun {
    std::vector<UserId> users;
    std::optional<std::string> next;  // nullopt at the end of the list
};
// Reads only keys of an index. `limit` is at most 10,000; a run examines at most that many members.
MemberRun find_member_run(Context& context, OrgId organization, const MemberFilter& filter,
                          std::string_view position, int limit);

inline constexpr int kMostExported = 10'000;
// An answer that exceeds this size is aborted.
inline constexpr std::size_t kMostExportedBytes = std::size_t{256} << 20U;

// Passes the header line and the members among `users` to `sink` in chunks, in the order of
// `users`; stops when `sink` returns false. Reads a few members at a time, each time in a
// transaction of its own, so a slow reader holds no lock. With `raw`, cells are written without the
// guard against spreadsheet formulas.
void write_member_export(Context& context, OrgId organization, std::span<const UserId> users,
                         bool raw, const std::function<bool(std::string_view)>& sink);

}  // namespace muster::service
