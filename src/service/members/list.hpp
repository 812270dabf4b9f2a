// Pages of members (GET /v1/users) at the same cost wherever they begin and whatever is filtered:
// one index is read in its order, and the other conditions filter the result.
#pragma once

#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <optional>
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

}  // namespace muster::service
