// Serves /v1/ingest: signed event batches from the backends of installed modules (specification 5
// rule 8 and 6, docs/modules.md "Ingest").
#include "service/engagement/ingest.hpp"

#include "api/engagement/collects.hpp"
#include "api/groups.hpp"
#include "rules/engagement/event_record.hpp"
#include "service/callers.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::AnyJson;
using json::array_of;
using json::Email;
using json::Instant;
using json::Text;
using json::Uuid;
using service::PushedEvent;

// ---------------------------------------------------------------------------- bodies

constexpr auto kPushedEvent =
    json::object<PushedEvent>(
        json::optional("type", &PushedEvent::type, Text{1, 128},
                       "Event type that the installed version's manifest emits. If omitted: only "
                       "engagement.recorded.",
                       "club_shop.order_paid"),
        json::required("action", &PushedEvent::action, Text{1, 128}, "Action of the member.",
                       "ticket_bought"),
        json::optional(
            "user_id", &PushedEvent::user_id, Uuid<UserId>{},
            "Id of the user. Exactly one of user_id, member_id, member_external_id and email is "
            "required."),
        json::optional("member_id", &PushedEvent::member_id, Uuid<MemberId>{}, "Id of the member."),
        json::optional("member_external_id", &PushedEvent::member_external_id, Text{1, 255},
                       "external_id of the member; it must belong to one member only.", "C-1001"),
        json::optional("email", &PushedEvent::email, Email{}, "Email address of the member.",
                       "ada@example.org"),
        json::optional("tags", &PushedEvent::tags, array_of(Text{1, 64, true}, 0, 20),
                       "Tags for reports.", R"(["cup"])"),
        json::optional("metadata", &PushedEvent::metadata, AnyJson{},
                       "Any JSON of at most 8 KiB. Numbers are stored as sent.",
                       R"({"price": 12.5})"),
        json::optional(
            "client_event_id", &PushedEvent::client_event_id, Text{1, 128},
            "The sender's id of the event. A repeated id is counted as a duplicate and not stored.",
            "order-1001"),
        json::optional(
            "occurred_at", &PushedEvent::occurred_at, Instant{},
            "Time of the event, at most 30 days ago and 24 hours ahead. If omitted: now."))
        .named("PushedEvent");

struct PushedBatch {
    std::vector<PushedEvent> events;
};
constexpr auto kPushedBatch = json::object<PushedBatch>(
    json::required("events", &PushedBatch::events, array_of(kPushedEvent, 1, 100),
                   "Events to store. If one event is malformed, no event is stored."));

// ---------------------------------------------------------------------------- handler

service::PushedCall ingest_events(Call& call, PushedBatch in) {
    take_metadata_as_sent(call, in.events);
    return service::PushedCall{call.actor(), call.claim, call.caller.module->installation,
                               std::move(in.events)};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kIngestErrors = {ErrorCode::SignatureInvalid};

constexpr std::array kIngestEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/ingest",
        .operation = "ingestEvents",
        .summary = "Ingest a module's events, all or none",
        .description =
            "Stores up to 100 events of an installed module, all of them or none. The request is "
            "signed with the credential's secret and requires an Idempotency-Key. A "
            "known client_event_id counts as a duplicate. Subscribed webhooks receive the "
            "events.",
        .access = Access::Module,
        .idempotency = IdempotencyKey::Required,
        .body_limit = kEventsBody,
        .body_required = true,
        .body_component = "EventBatch",
        .body_schema = schema_of<kPushedBatch>,
        .body_example = R"({"events": [{"action": "ticket_bought", "email": "ada@example.org",
                 "tags": ["cup"], "metadata": {"price": 12.50}, "client_event_id": "order-1001"}]})",
        .reply = {202, "The numbers of stored events and of duplicates."},
        .errors = kIngestErrors,
        .handler = decoded<kPushedBatch, collects<rules::kEventCounts, ingest_events>>,
        .workers = WorkerGroup::Collectors},
};
static_assert(well_formed(kIngestEndpoints, "/v1/ingest"));

}  // namespace

std::span<const Endpoint> ingest_endpoints() {
    return kIngestEndpoints;
}

}  // namespace muster::api
