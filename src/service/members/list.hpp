// Pages of members (GET /v1/users), at the same cost wherever they begin and whatever is filtered:
// one index leads, in its order, and the other conditions are held against what it gives.
#pragma once

#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Each absent condition takes all. The first that is given leads: email, external_id, prefix,
// updated_since, status.
struct MemberFilter {
    std::optional<std::string> email;  // normalised
    std::optional<std::string> external_id;
    std::optional<std::string> prefix;  // 1..255 characters; of email, of the name, of last_name
    std::optional<Timestamp> updated_since;
    std::optional<std::string> status;
};

struct MemberPage {
    std::vector<rules::Member> members;
    std::optional<std::string> next;  // where the next page begins; nullopt: this was the last
};

// At most `limit` members behind `position` ("" = from the beginning), which is the `next` of a
// page with the same filter. By user id; with a prefix by the term that matched, with updated_since
// by that time. There can be fewer although more follow: a page looks at a bounded number of
// members, and is cut short when its members are heavy. Throws
// std::invalid_argument for a position that no page gave.
MemberPage list_members(Context& context, OrgId organization, const MemberFilter& filter,
                        std::string_view position, int limit);

}  // namespace muster::service
