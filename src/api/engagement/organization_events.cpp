// Serves /v1/engagement/events: the organization's events of the last 24 hours.
#include "api/groups.hpp"
#include "rules/engagement/event_record.hpp"
#include "service/engagement/events.hpp"

namespace muster::api {
namespace {

constexpr auto kRecentEventList = list_of<rules::kRecentEvent>("RecentEventList", "events");

auto list_recent(Call& call) {
    auto events = service::list_recent_events(call.context, call.org(), call.cursor_id<EventId>(),
                                              call.query.integer("limit") + 1);
    return page_of(call, std::move(events));
}

constexpr std::array kRecentEventQuery = {
    page_limit(),
    kPageCursor,
};

constexpr std::array kRecentEventEndpoints = {
    Endpoint{
        .method = http::Method::Get,
        .path = "/v1/engagement/events",
        .operation = "listRecentEvents",
        .summary = "List the organization's events of the last 24 hours",
        .description =
            "Lists the events that were received in the last 24 hours, newest first by "
            "received_at: tracked and ingested ones, of members, visitors and unknown members. "
            "Use it to see whether a page or a module sends events. The cost of a page does not "
            "depend on the number of events.",
        .query = kRecentEventQuery,
        .reply = {200, "A page of events."},
        .handler = answers<kRecentEventList, list_recent>},
};
static_assert(well_formed(kRecentEventEndpoints, "/v1/engagement/events"));

}  // namespace

std::span<const Endpoint> organization_event_endpoints() {
    return kRecentEventEndpoints;
}

}  // namespace muster::api
