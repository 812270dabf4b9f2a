// Serves /v1/installations/{id}/webhook-endpoints…: where an installation wants its events
// (specification 2.9, 4.3, docs/modules.md "Webhook endpoints"). Their deliveries are
// webhook_deliveries.cpp's.
#include "service/webhooks/endpoints.hpp"

#include "api/groups.hpp"
#include "api/issued.hpp"
#include "api/worker_state.hpp"
#include "rules/event_types.hpp"

namespace muster {

using rules::EndpointStatus;
template <>
inline constexpr std::array enum_values<EndpointStatus> = {
    EndpointStatus::Active, EndpointStatus::Paused, EndpointStatus::Disabled};

}  // namespace muster

namespace muster::api {
namespace {

using http::Method;
using http::Reply;
using json::Text;
using rules::WebhookEndpoint;
using service::EndpointChange;
using service::EndpointPlace;
using service::NewWebhookEndpoint;
using service::OrgTransaction;
using service::StoredReply;

// ---------------------------------------------------------------------------- bodies

constexpr Text kUrl{1, service::kLongestWebhookUrl};
constexpr auto kEventTypes =
    json::array_of(Text{1, rules::kLongestEventType}, 1, service::kMostEventTypes);

constexpr auto kNewEndpoint = json::object<NewWebhookEndpoint>(
    json::required("url", &NewWebhookEndpoint::url, kUrl,
                   "Public HTTPS address that events are sent to.", "https://crm.example/hooks"),
    json::required("subscribed_event_types", &NewWebhookEndpoint::event_types, kEventTypes,
                   "Event types to send, each once.", R"(["member.created"])"));

constexpr auto kEndpointChange = json::object<EndpointChange>(
    json::optional("url", &EndpointChange::url, kUrl,
                   "Public HTTPS address that events are sent to. Left out: it stays.",
                   "https://crm.example/hooks"),
    json::optional("subscribed_event_types", &EndpointChange::event_types, kEventTypes,
                   "Event types to send, each once. Left out: they stay.", R"(["member.created"])"),
    json::optional("status", &EndpointChange::status, json::Choice<rules::endpoint_status_of>{},
                   "New state. Left out: it stays."));

// ---------------------------------------------------------------------------- replies

constexpr auto kEndpoint = record<WebhookEndpoint>(
    "WebhookEndpoint", field<&WebhookEndpoint::id>("id", "Id of the record."),
    field<&WebhookEndpoint::module_installation_id>(
        "module_installation_id", "Id of the installation that the endpoint belongs to."),
    field<&WebhookEndpoint::organization_id>("organization_id",
                                             "Id of the organization that the record belongs to."),
    field<&WebhookEndpoint::url>("url", "Address that events are sent to.",
                                 "https://crm.example/hooks"),
    field<&WebhookEndpoint::subscribed_event_types>("subscribed_event_types",
                                                    "Event types to send, in alphabetical order.",
                                                    R"(["member.created"])"),
    field<&WebhookEndpoint::status>(
        "status",
        "active: sends; paused: events wait up to 30 days; disabled: events are not queued."),
    field<&WebhookEndpoint::disabled_reason>(
        "disabled_reason",
        "gone: it answered 410; failing: it failed for five days; null if an admin disabled it or "
        "it is not disabled.")
        .of([] {
            return or_null(one_of({"gone", "failing"}));
        }),
    field<&WebhookEndpoint::failing_since>(
        "failing_since",
        "Time of the first failure since the last success; null if the last attempt succeeded."),
    field<&WebhookEndpoint::created_at>("created_at", "Time when the record was created."),
    field<&WebhookEndpoint::updated_at>("updated_at", "Time of the last change."));

Json::Value endpoint_list_schema() {
    return list_schema<kEndpoint>("webhook_endpoints");
}

constexpr std::array<std::string_view, 1> kSecrets = {"signing_secret"};

Json::Value issued_endpoint_schema() {
    return issued_schema(kEndpoint.schema(), kSecrets);
}

StoredReply issued_endpoint_reply(const service::IssuedEndpoint& issued) {
    return issued_reply(to_json(kEndpoint, issued.endpoint), kSecrets, std::array{issued.secret});
}

// ---------------------------------------------------------------------------- handlers

EndpointPlace place_of(const Call& call) {
    return {call.id<InstallationId>(0), call.id<EndpointId>(1)};
}

Reply list_endpoints(Call& call) {
    const auto after = call.cursor_id<EndpointId>();
    auto endpoints =
        service::list_webhook_endpoints(call.context, call.org(), call.id<InstallationId>(), after,
                                        call.query.integer("limit") + 1);
    return page_reply(call, "webhook_endpoints", kEndpoint, endpoints);
}

// A look-up may hold a worker for two seconds while name servers, a tenant's own perhaps, say
// nothing. Beyond this the name is judged when something is sent, as it is then in any case.
bool may_look_up(Call& call) {
    constexpr process::RateLimit kLookUps{1, 10};
    return call.worker.limiter.take("webhook names " + std::string(call.org().bytes()), kLookUps)
        .allowed;
}

Reply create_endpoint(Call& call, const NewWebhookEndpoint& in) {
    const auto installation = call.id<InstallationId>();
    service::check_endpoint_fields(call.context, in.url, in.event_types, may_look_up(call));
    return call.transact([&](OrgTransaction& transaction) {
        const auto issued =
            service::create_webhook_endpoint(transaction, call.context.keys, installation, in);
        StoredReply reply = issued_endpoint_reply(issued);
        reply.location = "/v1/installations/" + installation.text() + "/webhook-endpoints/" +
                         issued.endpoint.id.text();
        return reply;
    });
}

Reply change_endpoint(Call& call, const EndpointChange& in) {
    const auto place = place_of(call);
    service::check_endpoint_fields(call.context, in.url, in.event_types,
                                   in.url && may_look_up(call));
    return call.transact([&](OrgTransaction& transaction) {
        const auto endpoint = service::change_webhook_endpoint(transaction, place, in);
        return StoredReply{200, "", to_json(kEndpoint, endpoint), std::nullopt};
    });
}

Reply delete_endpoint(Call& call) {
    const auto place = place_of(call);
    call.transact([&](OrgTransaction& transaction) {
        service::delete_webhook_endpoint(transaction, place);
        return StoredReply{};
    });
    return no_content();
}

Reply rotate_secret(Call& call, const Nothing&) {
    const auto place = place_of(call);
    return call.transact([&](OrgTransaction& transaction) {
        auto reply = issued_endpoint_reply(
            service::rotate_endpoint_secret(transaction, call.context.keys, place));
        reply.status = 200;
        return reply;
    });
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {
    page_limit(),
    kPageCursor,
};
constexpr std::array kCreateErrors = {ErrorCode::InvalidState};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/webhook-endpoints",
             .operation = "listWebhookEndpoints",
             .summary = "List an installation's webhook endpoints",
             .description =
                 "Lists the webhook endpoints of an installation with their status. The signing "
                 "secrets are not shown.",
             .query = kListQuery,
             .reply = {200, "A page of endpoints.", "application/json", "WebhookEndpointList",
                       endpoint_list_schema},
             .handler = list_endpoints},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints",
        .operation = "createWebhookEndpoint",
        .summary = "Make a webhook endpoint; its signing secret is shown this once",
        .description =
            "Creates an endpoint that receives events as signed webhooks. The URL must be public "
            "HTTPS. The signing secret is in this reply and its replays only. Use an "
            "Idempotency-Key that others cannot guess.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewWebhookEndpoint",
        .body_schema = schema_of<kNewEndpoint>,
        .body_example = R"({"url": "https://crm.example/hooks",
               "subscribed_event_types": ["member.created", "member.updated"]})",
        .reply = {201, "The endpoint.", "application/json", "IssuedWebhookEndpoint",
                  issued_endpoint_schema},
        .errors = kCreateErrors,
        .handler = decoded<kNewEndpoint, create_endpoint>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}",
        .operation = "updateWebhookEndpoint",
        .summary = "Change, pause or disable a webhook endpoint, or set it going again",
        .description =
            "Changes the fields that are sent and keeps the others. status pauses, disables or "
            "activates the endpoint: paused keeps events for 30 days, disabled cancels them. "
            "Activating clears disabled_reason and failing_since.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "WebhookEndpointChange",
        .body_schema = schema_of<kEndpointChange>,
        .body_example = R"({"status": "paused"})",
        .reply = replies<kEndpoint>(200, "The endpoint as it is now."),
        .handler = decoded<kEndpointChange, change_endpoint>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}",
        .operation = "deleteWebhookEndpoint",
        .summary = "Delete a webhook endpoint with all its deliveries",
        .description =
            "Deletes an endpoint with all its deliveries. Set its status to disabled to keep the "
            "deliveries.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .reply = {204, "It is gone.", "", "", nullptr},
        .handler = delete_endpoint},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/rotate-secret",
        .operation = "rotateWebhookSecret",
        .summary = "Give an endpoint a new signing secret; the old one signs for 24 hours more",
        .description =
            "Gives an endpoint a new signing secret. For 24 hours each webhook is signed with "
            "both secrets, so that receivers can change over. The secret is in this reply and its "
            "replays only.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The endpoint with its new secret, which is shown this once.",
                  "application/json", "IssuedWebhookEndpoint", issued_endpoint_schema},
        .handler = decoded<kNothing, rotate_secret>},
};
static_assert(well_formed(kEndpoints, "/v1/installations/{id}/webhook-endpoints"));

}  // namespace

std::span<const Endpoint> webhook_endpoint_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
