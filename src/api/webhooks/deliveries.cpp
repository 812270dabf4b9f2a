// Serves /v1/installations/{id}/webhook-endpoints/{endpointId}/…: the deliveries of an endpoint,
// and sending them again (docs/webhooks.md "Deliveries"); and /v1/webhook-deliveries, those of all
// endpoints.
#include "service/webhooks/deliveries.hpp"

#include "api/groups.hpp"
#include "api/webhooks/endpoint_ref.hpp"
#include "base/settings.hpp"
#include "rules/access/roles.hpp"
#include "rules/webhook_wire.hpp"

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

template <>
struct JsonType<service::RecoverableCount> {
    using Count = service::RecoverableCount;
    static constexpr auto kRecord = record<Count>(
        "RecoverableCount",
        field<&Count::count>("count", "Number of deliveries that match: 0 to 10,000.", "42"),
        field<&Count::exact>("exact", "false: there may be more; count is the least number.",
                             "true"));
    static void write(JsonWriter& to, const Count& value) { kRecord.write(to, value); }
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

using service::Recovery;
constexpr auto kRecovery = json::object<Recovery>(
    json::required("since", &Recovery::since, json::Instant{},
                   "Deliveries created at this time or later are queued again."),
    json::optional("until", &Recovery::until, json::Instant{},
                   "Deliveries created before this time are queued again. If omitted: all since."),
    json::optional("dry_run", &Recovery::dry_run, json::Boolean{},
                   "true: only count the deliveries. If omitted: false."));

using service::Recovered;
constexpr auto kRecovered = record<Recovered>(
    "RecoveredDeliveries",
    field<&Recovered::queued>("queued", "Number of deliveries queued again; 0 after a dry run."),
    field<&Recovered::has_more>("has_more",
                                "Whether more may remain; call again with the same times."),
    field<&Recovered::matching>("matching",
                                "Number of deliveries that would be queued again; null unless "
                                "dry_run is true."));

template <const auto&... kMore>
constexpr auto delivery_record(const char* name) {
    return record<WebhookDelivery>(
        name, field<&WebhookDelivery::id>("id", "Id of the delivery."),
        field<&WebhookDelivery::endpoint_id>("endpoint_id", "Id of the webhook endpoint."),
        field<&WebhookDelivery::module_installation_id>(
            "module_installation_id", "Id of the installation that the endpoint belongs to."),
        field<&WebhookDelivery::webhook_id>(
            "webhook_id", "Value of the webhook-id header, the same in each attempt.",
            "msg_019a9f3c7b1e7c449d5a3f1f0a2b6c8d"),
        field<&WebhookDelivery::event_type>("event_type", "Type of the event.", "member.created"),
        field<&WebhookDelivery::status>(
            "status",
            "pending: another attempt follows; succeeded: answered with 2xx; failed: after ten "
            "attempts or 410; canceled: the endpoint or installation was disabled."),
        field<&WebhookDelivery::attempts>("attempts", "The last 40 attempts, oldest first."),
        field<&WebhookDelivery::next_attempt_at>("next_attempt_at",
                                                 "Time of the next attempt; null if none follows."),
        field<&WebhookDelivery::created_at>("created_at", "Time when the record was created."),
        kMore...);
}
constexpr auto kDelivery = delivery_record("WebhookDelivery");

// An attempt with the headers that identify and sign it.
struct SentHeaders {
    std::string content_type = "application/json";
    std::string webhook_id;
    std::string webhook_timestamp;
    std::optional<std::string> webhook_signature;
};
constexpr auto kSentHeaders = record<SentHeaders>(
    "WebhookRequestHeaders",
    field<&SentHeaders::content_type>("content-type", "Always application/json.",
                                      "application/json"),
    field<&SentHeaders::webhook_id>("webhook-id", "Id of the event, the same in each attempt.",
                                    "msg_019a9f3c7b1e7c449d5a3f1f0a2b6c8d"),
    field<&SentHeaders::webhook_timestamp>("webhook-timestamp",
                                           "Seconds since 1970 of the attempt.", "1795283198"),
    field<&SentHeaders::webhook_signature>(
        "webhook-signature",
        "The signatures that were sent; null for attempts before an upgrade, and for internal errors "
        "before the signing.",
        "v1,fzDpgyR6BFSJuYZI5LEN2UMmukcy0De1lU28I2gnhl8="));

// The requests of a delivery's attempts, in their order.
void write_requests(JsonWriter& to, const WebhookDelivery& delivery) {
    to.begin_array();
    for (const rules::WebhookAttempt& attempt : delivery.attempts) {
        kSentHeaders.write(to, {.webhook_id = delivery.webhook_id,
                                .webhook_timestamp = rules::webhook_timestamp(attempt.at),
                                .webhook_signature = attempt.signature});
    }
    to.end_array();
}
constexpr RecordField<WebhookDelivery> kRequestHeaders{
    "request_headers", "The headers of each attempt, in the order of attempts.", write_requests,
    [] { return array_of_schema(kSentHeaders.schema()); }};
constexpr auto kPayload = field<&WebhookDelivery::payload>(
    "payload", "The body that is sent, byte for byte; the signatures cover it.",
    R"({"type": "member.created"})");
constexpr auto kSentDelivery =
    delivery_record<kRequestHeaders, kPayload>("WebhookDeliveryWithRequest");

constexpr auto kDeliveryList = list_of<kDelivery>("WebhookDeliveryList", "deliveries");

// ---------------------------------------------------------------------------- handlers

auto delivery_page(Call& call, const std::optional<service::EndpointRef>& ref) {
    const auto status = call.query.text("status");
    const auto attempt_class = call.query.text("class");
    const service::DeliveryFilter filter{
        status ? parse<DeliveryStatus>(*status) : std::nullopt, call.query.text("event_type"),
        attempt_class ? parse<rules::AttemptClass>(*attempt_class) : std::nullopt,
        call.query.timestamp("since"), call.query.timestamp("until")};
    auto page =
        service::list_deliveries(call.context, call.org(), ref, call.cursor_id<DeliveryId>(),
                                 filter, call.query.integer("limit"));
    return page_of(call, std::move(page.deliveries), page.next);
}

auto list_deliveries(Call& call) {
    return delivery_page(call, endpoint_ref(call));
}

auto list_all_deliveries(Call& call) {
    return delivery_page(call, std::nullopt);
}

auto get_delivery(Call& call) {
    return service::find_delivery(call.context, call.org(), endpoint_ref(call),
                                  call.id<DeliveryId>(2));
}

std::int64_t backlog(const Call& call) {
    return call.context.settings.webhooks.backlog;
}

auto redeliver(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto ref = endpoint_ref(call);
    const auto id = call.id<DeliveryId>(2);
    return service::redeliver(transaction, ref, id, backlog(call));
}

auto test_endpoint(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto ref = endpoint_ref(call);
    return service::test_endpoint(transaction, ref, backlog(call));
}

auto recover_deliveries(Call& call, OrgTransaction& transaction, const Recovery& in) {
    return service::recover_deliveries(transaction, endpoint_ref(call), in, backlog(call));
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
    QueryParameter{.name = "class",
                   .choice = name_at<rules::AttemptClass>,
                   .meaning = "Only deliveries whose last attempt has this class; 2xx: accepted."},
    QueryParameter{.name = "since",
                   .kind = QueryParameter::Kind::Timestamp,
                   .meaning = "Only deliveries that were created at this time or later."},
    QueryParameter{.name = "until",
                   .kind = QueryParameter::Kind::Timestamp,
                   .meaning = "Only deliveries that were created before this time."},
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
            "endpoint must be active, the installation not disabled, and the backlog not full, "
            "otherwise 409 INVALID_STATE. Read the result with listWebhookDeliveries. Repeat safely "
            "with an Idempotency-Key.",
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
            "Queues failed and canceled deliveries that were created since a time, and before until. "
            "Each keeps its webhook id, so receivers can detect duplicates. A call queues up to "
            "5,000, or fewer if the backlog is full then; call again, with another Idempotency-Key, "
            "while has_more is true. With dry_run true, nothing is queued, and matching counts the "
            "deliveries, exactly up to 10,000. The endpoint must be active, the installation not "
            "disabled, and the backlog not full, otherwise 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "Recovery",
        .body_schema = schema_of<kRecovery>,
        .body_example = R"({"since": "2026-11-20T10:00:00.000Z"})",
        .reply = {202,
                  "The number of deliveries queued again; after a dry run, of those that match."},
        .errors = kDeliveryStateErrors,
        .handler = decoded<kRecovery, answers<kRecovered, recover_deliveries>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries",
        .operation = "listWebhookDeliveries",
        .summary = "List an endpoint's deliveries, newest first",
        .description =
            "Lists the deliveries of the last 30 days with their attempts, newest first. A call "
            "examines a bounded number of deliveries, and a page ends above 1 MiB of response "
            "excerpts. So a page may be shorter than limit; continue until next_cursor is null.",
        .query = kDeliveryListQuery,
        .reply = {200, "A page of deliveries."},
        .handler = answers<kDeliveryList, list_deliveries>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/{deliveryId}",
        .operation = "getWebhookDelivery",
        .summary = "Read a delivery with its attempts and what was sent",
        .description =
            "Returns one delivery with its attempts, the headers of each attempt, and the payload. "
            "Use it to see what the receiver got, and its answers. The signing secret is not shown.",
        .reply = {200, "The delivery."},
        .handler = answers<kSentDelivery, get_delivery>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/deliveries/"
                "{deliveryId}/redeliver",
        .operation = "redeliverWebhook",
        .summary = "Send a delivery again",
        .description =
            "Sends a delivery again, whatever its status. It keeps its webhook id, so receivers "
            "can detect duplicates. It keeps its last 40 attempts. The endpoint must be active, "
            "the installation not disabled, and, unless the delivery waits already, the backlog "
            "not full, otherwise 409 INVALID_STATE. Repeat safely with an Idempotency-Key.",
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

constexpr std::array kAllDeliveryEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/webhook-deliveries",
             .operation = "listAllWebhookDeliveries",
             .summary = "List the deliveries of all endpoints, newest first",
             .description =
                 "Lists the organization's deliveries of the last 30 days, of all endpoints of all "
                 "installations, newest first. Use it to find failures without knowing the "
                 "endpoint. A page may be shorter than limit; continue until next_cursor is null.",
             .query = kDeliveryListQuery,
             .reply = {200, "A page of deliveries."},
             .handler = answers<kDeliveryList, list_all_deliveries>},
};
static_assert(well_formed(kAllDeliveryEndpoints, "/v1/webhook-deliveries"));

}  // namespace

std::span<const Endpoint> webhook_delivery_endpoints() {
    return kDeliveryEndpoints;
}

std::span<const Endpoint> all_webhook_delivery_endpoints() {
    return kAllDeliveryEndpoints;
}

}  // namespace muster::api
