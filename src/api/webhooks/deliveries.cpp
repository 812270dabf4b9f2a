// Serves /v1/installations/{id}/webhook-endpoints/{endpointId}/…: what becomes of the events that
// an endpoint gets, and sending them again (docs/modules.md "Deliveries").
#include "service/webhooks/deliveries.hpp"

#include "api/groups.hpp"

namespace muster {

using rules::DeliveryStatus;
template <>
struct JsonType<rules::WebhookAttempt> {
    using Attempt = rules::WebhookAttempt;
    static constexpr auto kRecord = record<Attempt>(
        "WebhookAttempt", field<&Attempt::at>("at"), field<&Attempt::status_code>("status_code"),
        field<&Attempt::attempt_class>("class"), field<&Attempt::duration_ms>("duration_ms"),
        field<&Attempt::response_excerpt>("response_excerpt"));
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
constexpr auto kRecovery =
    json::object<Recovery>(json::required("since", &Recovery::since, json::Instant{}));

struct Recovered {
    std::int64_t queued = 0;
};
constexpr auto kRecovered =
    record<Recovered>("RecoveredDeliveries", field<&Recovered::queued>("queued"));

constexpr auto kDelivery = record<WebhookDelivery>(
    "WebhookDelivery", field<&WebhookDelivery::id>("id"),
    field<&WebhookDelivery::webhook_id>("webhook_id"),
    field<&WebhookDelivery::event_type>("event_type"), field<&WebhookDelivery::status>("status"),
    field<&WebhookDelivery::attempts>("attempts"),
    field<&WebhookDelivery::next_attempt_at>("next_attempt_at"),
    field<&WebhookDelivery::created_at>("created_at"));

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
    page_limit("Deliveries a page."),
    kPageCursor,
    QueryParameter{.name = "status",
                   .choice = name_at<rules::DeliveryStatus>,
                   .meaning = "Only deliveries in this status."},
    QueryParameter{
        .name = "event_type", .least = 1, .meaning = "Only deliveries of events of this type."},
};
constexpr std::array kMoveErrors = {ErrorCode::InvalidState};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Post,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/test",
             .operation = "testWebhookEndpoint",
             .summary = "Send a test event to an endpoint, whatever it subscribes to",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = {202, "The event is on its way."},
             .errors = kMoveErrors,
             .handler = decoded<kNothing, answers<kDelivery, test_endpoint>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/recover",
             .operation = "recoverWebhookDeliveries",
             .summary = "Send again what failed or was canceled since a time",
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
             .query = kListQuery,
             .reply = {200, "A page of deliveries."},
             .handler = answers<kDeliveryList, list_deliveries>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/{deliveryId}",
        .operation = "getWebhookDelivery",
        .summary = "Read a delivery with its attempts",
        .reply = {200, "The delivery."},
        .handler = answers<kDelivery, get_delivery>},
    Endpoint{.method = Method::Post,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/"
                     "{deliveryId}/redeliver",
             .operation = "redeliverWebhook",
             .summary = "Send a delivery again, with the same webhook id, whatever became of it",
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
