// Serves /v1/ingest: the events that an installed module's backend pushes, signed (specification 5
// rule 8 and 6, docs/modules.md "Ingest").
#include "service/engagement/ingest.hpp"

#include "api/groups.hpp"
#include "json/json_source.hpp"
#include "rules/engagement/event_record.hpp"

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

constexpr auto kEvent = json::object<PushedEvent>(
    json::optional("type", &PushedEvent::type, Text{1, 128}),
    json::required("action", &PushedEvent::action, Text{1, 128}),
    json::optional("user_id", &PushedEvent::user_id, Uuid<UserId>{}),
    json::optional("member_id", &PushedEvent::member_id, Uuid<MemberId>{}),
    json::optional("member_external_id", &PushedEvent::member_external_id, Text{1, 255}),
    json::optional("email", &PushedEvent::email, Email{}),
    json::optional("tags", &PushedEvent::tags, array_of(Text{1, 64}, 0, 20)),
    json::optional("metadata", &PushedEvent::metadata, AnyJson{}),
    json::optional("client_event_id", &PushedEvent::client_event_id, Text{1, 128}),
    json::optional("occurred_at", &PushedEvent::occurred_at, Instant{}));

struct Batch {
    std::vector<PushedEvent> events;
};
constexpr auto kBatch =
    json::object<Batch>(json::required("events", &Batch::events, array_of(kEvent, 1, 100)));

// ---------------------------------------------------------------------------- handler

// A module's numbers are kept as it wrote them.
void take_metadata_as_sent(const Call& call, std::vector<PushedEvent>& events) {
    auto sent = json::members_as_sent(*call.body, call.body_text, "events", "metadata");
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].metadata) events[i].metadata->text = std::move(sent.at(i));
    }
}

service::PushedCall ingest_events(Call& call, Batch in) {
    take_metadata_as_sent(call, in.events);
    return service::PushedCall{call.actor(), call.claim, call.caller.module->installation,
                               std::move(in.events)};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kErrors = {ErrorCode::SignatureInvalid};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Post,
             .path = "/v1/ingest",
             .operation = "ingestEvents",
             .summary = "Push a module's events, all of them or none",
             .access = Access::Module,
             .idempotency = IdempotencyKey::Required,
             .body_limit = kEventsBody,
             .body_required = true,
             .body_component = "EventBatch",
             .body_schema = schema_of<kBatch>,
             .body_example = R"({"events": [{"action": "ticket_bought", "email": "ada@example.org",
                 "tags": ["cup"], "metadata": {"price": 12.50}, "client_event_id": "order-1001"}]})",
             .reply = {202, "How many were stored, and how many were known."},
             .errors = kErrors,
             .handler = decoded<kBatch, collects<rules::kEventCounts, ingest_events>>,
             .workers = WorkerGroup::Collectors},
};
static_assert(well_formed(kEndpoints, "/v1/ingest"));

}  // namespace

std::span<const Endpoint> ingest_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
