// Pages of members (GET /v1/users) at the same cost wherever they begin and whatever is filtered:
// one index is read in its order, and the other conditions filter the result.
#pragma once

#include "service/context.hpp"
#include "service/members/filter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Member;
}

namespace muster::service {

struct MemberPage {
    std::vector<rules::Member> members;
    std::optional<std::string> next;  // the position of the next page; nullopt on the last page
};

// At most `limit` members after `position`, which is "" or the `next` of a page with the same
// filter. In the order Filter: by user id; with a prefix by the matching term, with `updated_since`
// by that time. A page may hold fewer members although more follow, because it examines a bounded
// number of members and ends early if they are large. Throws std::invalid_argument if the position
// is not from a previous page.
MemberPage list_members(Context& context, OrgId organization, const MemberFilter& filter,
                        std::string_view position, int limit);

inline constexpr int kMostCounted = 10'000;

struct MemberTotal {
    std::int64_t count = 0;
    bool exact = false;  // false: at least `count` members match
};
// Counts the members that match, whatever the order. Exact if the index of the filter has at most
// `most` entries for it; otherwise counts the matches among about so many entries.
MemberTotal count_members(Context& context, OrgId organization, const MemberFilter& filter,
                          int most = kMostCounted);

// Reads only keys of an index. `limit` is at most 10,000; a run examines at most that many members.
MemberRun find_member_run(Context& context, OrgId organization, const MemberFilter& filter,
                          std::string_view position, int limit);

inline constexpr int kMostExported = 10'000;
// Attributes cost more to read than to write: a short value has its key, origin and time.
struct ExportLimits {
    std::size_t text = std::size_t{32} << 20U;
    std::size_t attributes = std::size_t{16} << 20U;  // as they are stored
};

// Passes the header line and each member among `users` to `sink`, in the order of `users`, and ends
// before the bytes exceed a limit. The first member is never refused. Returns the number of
// users that are done. Reads up to 25 members at a time, each time in a transaction of its own.
// With `raw`, cells are written without the guard against spreadsheet formulas.
std::size_t write_member_export(Context& context, OrgId organization, std::span<const UserId> users,
                                bool raw, const std::function<void(std::string_view)>& sink,
                                const ExportLimits& limits = {});

}  // namespace muster::service
