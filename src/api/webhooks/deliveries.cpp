// Serves /v1/installations/{id}/webhook-endpoints/{endpointId}/…: the deliveries of an endpoint,
// and sending them again (docs/webhooks.md "Deliveries").
#include "service/webhooks/deliveries.hpp"

#include "api/groups.hpp"
#include "api/webhooks/endpoint_ref.hpp"
#include "rules/access/roles.hpp"

namespace muster {

using rules::DeliveryStatus;
template <>
struct JsonType<rules::WebhookAttempt> {
    using Attempt = rules::WebhookAttempt;
    static constexpr auto kRecord = record<Attempt>(
        "WebhookAttempt", field<&Attempt::at>("at", "Time when the attempt started."),
        field<&Attempt::status_code>("status_code",
                                     "HTTP status of the answer; null if there was none."),
        field<&Attempt::attempt_class>("class", "Status of a 2xx answer, or the kind of failure.",
                                       "200"),
        field<&Attempt::duration_ms>("duration_ms", "Duration in milliseconds."),
        field<&Attempt::response_excerpt>(
            "response_excerpt", "First 1,024 bytes of the answer; null if there was none.", "ok"));
    static void write(JsonWriter& to, const Attempt& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster

namespace muster::api {
namespace {

using http::Method;
using rules::WebhookDelivery;
using service::EndpointRef;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies, replies

struct Recovery {
    Timestamp since;
};
constexpr auto kRecovery = json::object<Recovery>(
    json::required("since", &Recovery::since, json::Instant{},
                   "Deliveries created at this time or later are queued again."));

using service::Recovered;
constexpr auto kRecovered =
    record<Recovered>("RecoveredDeliveries",
                      field<&Recovered::queued>("queued", "Number of deliveries queued again."),
                      field<&Recovered::has_more>(
                          "has_more", "Whether more may remain; call again with the same since."));

constexpr auto kDelivery = record<WebhookDelivery>(
    "WebhookDelivery", field<&WebhookDelivery::id>("id", "Id of the delivery."),
    field<&WebhookDelivery::webhook_id>("webhook_id",
                                        "Value of the webhook-id header, the same in each attempt.",
                                        "msg_019a9f3c7b1e7c449d5a3f1f0a2b6c8d"),
    field<&WebhookDelivery::event_type>("event_type", "Type of the event.", "member.created"),
    field<&WebhookDelivery::status>(
        "status",
        "pending: another attempt follows; succeeded: answered with 2xx; failed: after ten attempts "
        "or 410; canceled: the endpoint or installation was disabled."),
    field<&WebhookDelivery::attempts>("attempts", "The attempts so far, oldest first."),
    field<&WebhookDelivery::next_attempt_at>("next_attempt_at",
                                             "Time of the next attempt; null if none follows."),
    field<&WebhookDelivery::created_at>("created_at", "Time when the record was created."));

constexpr auto kDeliveryList = list_of<kDelivery>("WebhookDeliveryList", "deliveries");

// ---------------------------------------------------------------------------- handlers

auto list_deliveries(Call& call) {
    const auto ref = endpoint_ref(call);
    auto deliveries =
        service::list_deliveries(call.context, call.org(), ref, call.cursor_id<DeliveryId>(),
                                 {call.query.text("status"), call.query.text("event_type")},
                                 call.query.integer("limit") + 1);
    return page_of(call, std::move(deliveries));
}

auto get_delivery(Call& call) {
    return service::find_delivery(call.context, call.org(), endpoint_ref(call),
                                  call.id<DeliveryId>(2));
}

auto redeliver(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto ref = endpoint_ref(call);
    const auto id = call.id<DeliveryId>(2);
    return service::redeliver(transaction, ref, id);
}

auto test_endpoint(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto ref = endpoint_ref(call);
    return service::test_endpoint(transaction, ref);
}

auto recover_deliveries(Call& call, OrgTransaction& transaction, const Recovery& in) {
    const auto ref = endpoint_ref(call);
    return service::recover_deliveries(transaction, ref, in.since);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kDeliveryListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "status",
                   .choice = name_at<rules::DeliveryStatus>,
                   .meaning = "Only deliveries in this status."},
    QueryParameter{
        .name = "event_type", .least = 1, .meaning = "Only deliveries of events of this type."},
};
constexpr std::array kDeliveryStateErrors = {ErrorCode::InvalidState};

constexpr std::array kDeliveryEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/test",
        .operation = "testWebhookEndpoint",
        .summary = "Send a test event to an endpoint",
        .description =
            "Sends a webhook_endpoint.test event to the endpoint, whatever its subscriptions. The "
            "endpoint must be active and the installation not disabled, otherwise 409 "
            "INVALID_STATE. Read the result with listWebhookDeliveries. Repeat safely with an "
            "Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {202, "The delivery of the test event, pending."},
        .errors = kDeliveryStateErrors,
        .handler = decoded<kNothing, answers<kDelivery, test_endpoint>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/recover",
        .operation = "recoverWebhookDeliveries",
        .summary = "Queue failed and canceled deliveries again",
        .description =
            "Queues failed and canceled deliveries that were created since a time. Use it after a "
            "receiver was down. Each keeps its webhook id, so receivers can detect duplicates. A call "
            "queues up to 5,000; call again, with another Idempotency-Key, while has_more is true. "
            "The endpoint must be active and the installation not disabled, otherwise 409 "
            "INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "Recovery",
        .body_schema = schema_of<kRecovery>,
        .body_example = R"({"since": "2026-11-20T10:00:00.000Z"})",
        .reply = {202, "The number of deliveries queued again."},
        .errors = kDeliveryStateErrors,
        .handler = decoded<kRecovery, answers<kRecovered, recover_deliveries>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries",
             .operation = "listWebhookDeliveries",
             .summary = "List an endpoint's deliveries, newest first",
             .description =
                 "Lists the deliveries of the last 30 days with their attempts, newest first. "
                 "Filter by status or event_type.",
             .query = kDeliveryListQuery,
             .reply = {200, "A page of deliveries."},
             .handler = answers<kDeliveryList, list_deliveries>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/{deliveryId}",
        .operation = "getWebhookDelivery",
        .summary = "Read a delivery with its attempts",
        .description =
            "Returns one delivery with all its attempts. Use it to see the receiver's answers.",
        .reply = {200, "The delivery."},
        .handler = answers<kDelivery, get_delivery>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/"
                "{deliveryId}/redeliver",
        .operation = "redeliverWebhook",
        .summary = "Send a delivery again",
        .description =
            "Sends a delivery again, whatever its status. It keeps its webhook id, so receivers "
            "can detect duplicates. The endpoint must be active and the installation not "
            "disabled, otherwise 409 INVALID_STATE. Repeat safely with an Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {202, "The delivery, pending again."},
        .errors = kDeliveryStateErrors,
        .handler = decoded<kNothing, answers<kDelivery, redeliver>>},
};
static_assert(well_formed(kDeliveryEndpoints,
                          "/v1/installations/{id}/webhook-endpoints/{endpointId}/"));

}  // namespace

std::span<const Endpoint> webhook_delivery_endpoints() {
    return kDeliveryEndpoints;
}

}  // namespace muster::api
