#include "service/engagement/events.hpp"

#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/members/member.hpp"
#include "store/engagement/events.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::EngagementEvent;
using store::EventPosition;

// A position is the event's id followed by its `occurred_at` in milliseconds.
std::string position_of(const EngagementEvent& event) {
    return std::string(event.id.bytes()) + std::to_string(event.occurred_at.milliseconds());
}

std::optional<EventPosition> place_of(std::string_view position) {
    if (position.empty()) return std::nullopt;
    const auto id = Uuid::from_bytes(position.substr(0, Uuid::kBytes));
    const auto when = id ? parse_number<std::int64_t>(position.substr(Uuid::kBytes)) : std::nullopt;
    if (!when) throw std::invalid_argument("the position is not from a previous page");
    return EventPosition{Timestamp(*when), EventId(*id)};
}

// The page of at most `limit` of the member's events. One more was read, to learn whether there is
// a next page.
EventPage page_of(const rules::Member& member, std::vector<EngagementEvent> events, int limit) {
    EventPage page{std::move(events), std::nullopt};
    if (page.events.size() > static_cast<std::size_t>(limit)) {
        page.events.pop_back();
        page.next = position_of(page.events.back());
    }
    for (EngagementEvent& event : page.events) {
        event.member_id = member.member_id;
        event.member_external_id = member.external_id;
        event.user_id = member.user_id;
    }
    return page;
}

}  // namespace

EventPage list_engagement_events(Context& context, const rules::Member& member,
                                 std::string_view position, int limit) {
    const auto place = place_of(position);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, member.organization_id);
        auto events = store::page_engagement_events(org, member.member_id, place, limit + 1);
        return page_of(member, std::move(events), limit);
    });
}

std::vector<EventPage> list_first_events(Context& context, OrgId organization,
                                         std::span<const FirstPage> pages) {
    std::vector<store::FirstPage> wanted;
    for (const FirstPage& page : pages) wanted.push_back({page.member->member_id, page.limit + 1});
    auto found = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::first_engagement_events(org, wanted);
    });
    std::vector<EventPage> listed;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        listed.push_back(page_of(*pages[i].member, std::move(found[i]), pages[i].limit));
    }
    return listed;
}

EventTotal count_member_events(Context& context, const rules::Member& member, std::int64_t most) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, member.organization_id);
        const std::int64_t counted = store::count_member_events(org, member.member_id, most + 1);
        return EventTotal{std::min(counted, most), counted <= most};
    });
}

std::vector<EngagementEvent> list_recent_events(Context& context, OrgId organization,
                                                std::optional<EventId> before, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_recent_events(org, Timestamp::now() - rules::kRecentEvents, before,
                                         limit);
    });
}

}  // namespace muster::service
