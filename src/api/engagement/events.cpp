// Serves /v1/users/{userId}/engagement/events: lists a member's engagement events (specification
// 2.10, 4.2).
#include "service/engagement/events.hpp"

#include "api/groups.hpp"
#include "rules/engagement/event_record.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::kEngagementEvent;

constexpr auto kEventList = list_of<kEngagementEvent>("EngagementEventList", "events");

auto list_events(Call& call) {
    auto page = service::list_engagement_events(call.context, call.loaded_member(),
                                                call.cursor_position().value_or(""),
                                                call.query.integer("limit"));
    return page_of(call, std::move(page.events), page.next);
}

constexpr std::array kEngagementEventListQuery = {
    page_limit(),
    kPageCursor,
};

constexpr std::array kEngagementEventEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/users/{userId}/engagement/events",
             .operation = "listEngagementEvents",
             .summary = "List a member's engagement events, newest first",
             .description =
                 "Lists the tracked and ingested engagement events of a member, newest first by "
                 "occurred_at. The list is paged by cursor.",
             .query = kEngagementEventListQuery,
             .reply = {200, "A page of events."},
             .handler = answers<kEventList, list_events>,
             .workers = WorkerGroup::Readers,
             .loads_member = true},
};
static_assert(well_formed(kEngagementEventEndpoints, "/v1/users/{userId}/engagement/"));

}  // namespace

std::span<const Endpoint> engagement_event_endpoints() {
    return kEngagementEventEndpoints;
}

}  // namespace muster::api
