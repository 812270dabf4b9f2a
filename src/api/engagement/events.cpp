// Serves /v1/users/{userId}/engagement/events: lists a member's engagement events (specification
// 2.10, 4.2).
#include "service/engagement/events.hpp"

#include "api/groups.hpp"
#include "rules/engagement/event_record.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::kEngagementEvent;

constexpr auto kEventTotal = record<service::EventTotal>(
    "EventTotal",
    field<&service::EventTotal::count>("count", "The number, counted up to 1,000.", "42"),
    field<&service::EventTotal::exact>("exact", "false: there are more; count is the least number.",
                                       "true"));

constexpr CountedListShape<kEngagementEvent, kEventTotal> kEventList{
    "EngagementEventList", "events",
    "The number of the member's events on all pages; only with total=true."};

auto list_events(Call& call) {
    const std::string position = call.cursor_position().value_or("");  // 422 before 404
    const rules::Member& member = call.loaded_member();
    auto page = call.events ? std::move(*call.events)
                            : service::list_engagement_events(call.context, member, position,
                                                              call.query.integer("limit"));
    CountedPage<rules::EngagementEvent, service::EventTotal> events{
        page_of(call, std::move(page.events), page.next)};
    if (call.query.flag("total")) events.total = service::count_member_events(call.context, member);
    return events;
}

constexpr std::array kEngagementEventListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "total",
                   .kind = QueryParameter::Kind::Flag,
                   .meaning = "true: the reply has total, the number of events, up to 1,000."},
};

constexpr std::array kEngagementEventEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/users/{userId}/engagement/events",
        .operation = "listEngagementEvents",
        .summary = "List a member's engagement events, newest first",
        .description =
            "Lists the tracked and ingested engagement events of a member, newest first by "
            "occurred_at. The list is paged by cursor. total=true counts all events of the member.",
        .query = kEngagementEventListQuery,
        .reply = {200, "A page of events."},
        .handler = answers<kEventList, list_events>,
        .workers = WorkerGroup::Readers,
        .loads_member = true,
        .loads_events = true},
};
static_assert(well_formed(kEngagementEventEndpoints, "/v1/users/{userId}/engagement/"));

}  // namespace

std::span<const Endpoint> engagement_event_endpoints() {
    return kEngagementEventEndpoints;
}

}  // namespace muster::api
