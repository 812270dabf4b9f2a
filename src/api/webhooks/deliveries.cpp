// Serves /v1/installations/{id}/webhook-endpoints/{endpointId}/…: what becomes of the events that
// an endpoint gets, and sending them again (docs/webhooks.md "Deliveries").
#include "service/webhooks/deliveries.hpp"

#include "api/groups.hpp"

namespace muster {

using rules::DeliveryStatus;
template <>
struct JsonType<rules::WebhookAttempt> {
    using Attempt = rules::WebhookAttempt;
    static constexpr auto kRecord = record<Attempt>(
        "WebhookAttempt", field<&Attempt::at>("at", "Time when the attempt started."),
        field<&Attempt::status_code>("status_code",
                                     "HTTP status of the answer; null without an answer."),
        field<&Attempt::attempt_class>("class", "Status of a 2xx answer, or the kind of failure.",
                                       "200"),
        field<&Attempt::duration_ms>("duration_ms", "Duration in milliseconds."),
        field<&Attempt::response_excerpt>(
            "response_excerpt", "First 1,024 bytes of the answer; null without an answer.", "ok"));
    static void write(JsonWriter& to, const Attempt& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster

namespace muster::api {
namespace {

using http::Method;
using rules::WebhookDelivery;
using service::EndpointPlace;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies, replies

struct Recovery {
    Timestamp since;
};
constexpr auto kRecovery = json::object<Recovery>(
    json::required("since", &Recovery::since, json::Instant{},
                   "Time from which failed and canceled deliveries are sent again."));

struct Recovered {
    std::int64_t queued = 0;
};
constexpr auto kRecovered = record<Recovered>(
    "RecoveredDeliveries",
    field<&Recovered::queued>("queued", "Number of deliveries that are queued again."));

constexpr auto kDelivery = record<WebhookDelivery>(
    "WebhookDelivery", field<&WebhookDelivery::id>("id", "Id of the delivery."),
    field<&WebhookDelivery::webhook_id>("webhook_id",
                                        "Value of the webhook-id header, the same in each attempt.",
                                        "msg_019a9f3c7b1e7c449d5a3f1f0a2b6c8d"),
    field<&WebhookDelivery::event_type>("event_type", "Type of the event.", "member.created"),
    field<&WebhookDelivery::status>(
        "status",
        "pending: another attempt follows; succeeded: answered 2xx; failed: ten attempts, or 410; "
        "canceled: disabled meanwhile."),
    field<&WebhookDelivery::attempts>("attempts", "The attempts so far, the first one first."),
    field<&WebhookDelivery::next_attempt_at>("next_attempt_at",
                                             "Time of the next attempt; null if none follows."),
    field<&WebhookDelivery::created_at>("created_at", "Time when the record was created."));

constexpr auto kDeliveryList = list_of<kDelivery>("WebhookDeliveryList", "deliveries");

// ---------------------------------------------------------------------------- handlers

EndpointPlace place_of(const Call& call) {
    return {call.id<InstallationId>(0), call.id<EndpointId>(1)};
}

auto list_deliveries(Call& call) {
    const auto place = place_of(call);
    auto deliveries =
        service::list_deliveries(call.context, call.org(), place, call.cursor_id<DeliveryId>(),
                                 {call.query.text("status"), call.query.text("event_type")},
                                 call.query.integer("limit") + 1);
    return page_of(call, std::move(deliveries));
}

auto get_delivery(Call& call) {
    return service::find_delivery(call.context, call.org(), place_of(call), call.id<DeliveryId>(2));
}

auto redeliver(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto place = place_of(call);
    const auto id = call.id<DeliveryId>(2);
    return service::redeliver(transaction, place, id);
}

auto test_endpoint(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto place = place_of(call);
    return service::test_endpoint(transaction, place);
}

auto recover_deliveries(Call& call, OrgTransaction& transaction, const Recovery& in) {
    const auto place = place_of(call);
    return Recovered{service::recover_deliveries(transaction, place, in.since)};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "status",
                   .choice = name_at<rules::DeliveryStatus>,
                   .meaning = "Only deliveries in this status."},
    QueryParameter{
        .name = "event_type", .least = 1, .meaning = "Only deliveries of events of this type."},
};
constexpr std::array kMoveErrors = {ErrorCode::InvalidState};

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/test",
        .operation = "testWebhookEndpoint",
        .summary = "Send a test event to an endpoint, whatever it subscribes to",
        .description =
            "Sends a webhook_endpoint.test event to the endpoint, whatever it subscribes to. The "
            "endpoint must be active and the installation not disabled, otherwise 409 "
            "INVALID_STATE. Read the result with listWebhookDeliveries. Repeat safely with an "
            "Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {202, "The event is on its way."},
        .errors = kMoveErrors,
        .handler = decoded<kNothing, answers<kDelivery, test_endpoint>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/recover",
        .operation = "recoverWebhookDeliveries",
        .summary = "Send again what failed or was canceled since a time",
        .description =
            "Queues the deliveries again that failed or were canceled since a time. Use it after "
            "a receiver was down. Each keeps its webhook id, so receivers can ignore what they "
            "know. The endpoint must be active and the installation not disabled, otherwise 409 "
            "INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "Recovery",
        .body_schema = schema_of<kRecovery>,
        .body_example = R"({"since": "2026-11-20T10:00:00.000Z"})",
        .reply = {202, "How many deliveries are on their way again."},
        .errors = kMoveErrors,
        .handler = decoded<kRecovery, answers<kRecovered, recover_deliveries>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries",
             .operation = "listWebhookDeliveries",
             .summary = "List an endpoint's deliveries of the last 30 days, newest first",
             .description =
                 "Lists the deliveries of the last 30 days, the newest first, with their attempts. "
                 "Filter by status or event_type.",
             .query = kListQuery,
             .reply = {200, "A page of deliveries."},
             .handler = answers<kDeliveryList, list_deliveries>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/{deliveryId}",
        .operation = "getWebhookDelivery",
        .summary = "Read a delivery with its attempts",
        .description =
            "Returns one delivery with all its attempts. Use it to see what the receiver answered.",
        .reply = {200, "The delivery."},
        .handler = answers<kDelivery, get_delivery>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/"
                "{deliveryId}/redeliver",
        .operation = "redeliverWebhook",
        .summary = "Send a delivery again, with the same webhook id, whatever became of it",
        .description =
            "Sends a delivery again, whatever its status. It keeps its webhook id, so receivers "
            "can ignore what they know. The endpoint must be active and the installation not "
            "disabled, otherwise 409 INVALID_STATE. Repeat safely with an Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {202, "The delivery, pending again."},
        .errors = kMoveErrors,
        .handler = decoded<kNothing, answers<kDelivery, redeliver>>},
};
static_assert(well_formed(kEndpoints, "/v1/installations/{id}/webhook-endpoints/{endpointId}/"));

}  // namespace

std::span<const Endpoint> webhook_delivery_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
