// Lists a member's engagement events: pushed by modules and tracked by pages (specification 4.2).
#pragma once

#include "rules/engagement/events.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Member;
}

namespace muster::service {

struct EventPage {
    std::vector<rules::EngagementEvent> events;
    std::optional<std::string> next;  // the position of the next page; nullopt on the last page
};

// A page of the events of a member that was just read, ordered by `occurred_at` and id, newest
// first. At most `limit` events after `position`, which is "" or the `next` of a previous page of
// this member. The events carry the member's external id. Throws std::invalid_argument if the
// position is not from a previous page.
EventPage list_engagement_events(Context& context, const rules::Member& member,
                                 std::string_view position, int limit);

// The first page of a member that was just read.
struct FirstPage {
    const rules::Member* member;
    int limit;
};
// The pages of these distinct members of one organization, read together, in the order of `pages`.
std::vector<EventPage> list_first_events(Context& context, OrgId organization,
                                         std::span<const FirstPage> pages);

// A count costs a reader's batch about as much as a page.
inline constexpr std::int64_t kMostCountedEvents = 1'000;

struct EventTotal {
    std::int64_t count = 0;
    bool exact = false;  // false: there are more
};
// Counts all events of the member, up to `most`.
EventTotal count_member_events(Context& context, const rules::Member& member,
                               std::int64_t most = kMostCountedEvents);

// At most `limit` of the organization's events of the last 24 hours, those of visitors included,
// newest first by their reception, before the event `before` if it is given.
std::vector<rules::EngagementEvent> list_recent_events(Context& context, OrgId organization,
                                                       std::optional<EventId> before, int limit);

}  // namespace muster::service
