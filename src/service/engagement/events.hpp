// A member's engagement events read back (specification 4.2): whatever modules pushed and pages
// tracked.
#pragma once

#include "rules/engagement/events.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

struct EventPage {
    std::vector<rules::EngagementEvent> events;
    std::optional<std::string> next;  // where the next page begins; nullopt: this was the last
};

// The events of a member behind `position` ("" = from the newest), which is the `next` of one of
// its pages: by occurred_at descending, then by id descending; at most `limit`. The member's
// external id is today's. nullopt when the user is no member. Throws std::invalid_argument for a
// position that no page gave.
std::optional<EventPage> list_engagement_events(Context& context, OrgId organization, UserId user,
                                                std::string_view position, int limit);

}  // namespace muster::service
