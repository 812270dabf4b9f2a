// Serves /v1/installations/{id}/webhook-endpoints…: where an installation wants its events
// (specification 2.9, 4.3, docs/webhooks.md "Webhook endpoints"). Their deliveries are
// webhook_deliveries.cpp's.
#include "service/webhooks/endpoints.hpp"

#include "api/groups.hpp"
#include "api/issued.hpp"
#include "api/worker_state.hpp"
#include "rules/event_types.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Text;
using rules::WebhookEndpoint;
using service::EndpointChange;
using service::EndpointPlace;
using service::NewWebhookEndpoint;
using service::OrgTransaction;

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
    json::optional("status", &EndpointChange::status, json::Choice<rules::EndpointStatus>{},
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

constexpr auto kEndpointList = list_of<kEndpoint>("WebhookEndpointList", "webhook_endpoints");

using service::IssuedEndpoint;
constexpr IssuedShape<kEndpoint, &IssuedEndpoint::endpoint, &IssuedEndpoint::secret>
    kIssuedEndpoint{"IssuedWebhookEndpoint", {"signing_secret"}};

// ---------------------------------------------------------------------------- handlers

EndpointPlace place_of(const Call& call) {
    return {call.id<InstallationId>(0), call.id<EndpointId>(1)};
}

auto list_endpoints(Call& call) {
    const auto after = call.cursor_id<EndpointId>();
    auto endpoints =
        service::list_webhook_endpoints(call.context, call.org(), call.id<InstallationId>(), after,
                                        call.query.integer("limit") + 1);
    return page_of(call, std::move(endpoints));
}

// A look-up may hold a worker for two seconds while name servers, a tenant's own perhaps, say
// nothing. Beyond this the name is judged when something is sent, as it is then in any case.
bool may_look_up(Call& call) {
    constexpr process::RateLimit kLookUps{1, 10};
    return call.worker.limiter.take("webhook names " + std::string(call.org().bytes()), kLookUps)
        .allowed;
}

void check_new(Call& call, const NewWebhookEndpoint& in) {
    service::check_endpoint_fields(call.context, in.url, in.event_types, may_look_up(call));
}

auto create_endpoint(Call& call, OrgTransaction& transaction, const NewWebhookEndpoint& in) {
    const auto installation = call.id<InstallationId>();
    auto issued =
        service::create_webhook_endpoint(transaction, call.context.keys, installation, in);
    std::string location = "/v1/installations/" + installation.text() + "/webhook-endpoints/" +
                           issued.endpoint.id.text();
    return Answer{std::move(issued), std::move(location)};
}

void check_change(Call& call, const EndpointChange& in) {
    service::check_endpoint_fields(call.context, in.url, in.event_types,
                                   in.url && may_look_up(call));
}

auto change_endpoint(Call& call, OrgTransaction& transaction, const EndpointChange& in) {
    return service::change_webhook_endpoint(transaction, place_of(call), in);
}

void delete_endpoint(Call& call, OrgTransaction& transaction) {
    const auto place = place_of(call);
    service::delete_webhook_endpoint(transaction, place);
}

auto rotate_secret(Call& call, OrgTransaction& transaction, const Nothing&) {
    return service::rotate_endpoint_secret(transaction, call.context.keys, place_of(call));
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
             .reply = {200, "A page of endpoints."},
             .handler = answers<kEndpointList, list_endpoints>},
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
        .reply = {201, "The endpoint."},
        .errors = kCreateErrors,
        .handler =
            decoded<kNewEndpoint, checked<check_new, answers<kIssuedEndpoint, create_endpoint>>>},
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
        .reply = {200, "The endpoint as it is now."},
        .handler =
            decoded<kEndpointChange, checked<check_change, answers<kEndpoint, change_endpoint>>>},
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
        .reply = {204, "It is gone."},
        .handler = answers_nothing<delete_endpoint>},
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
        .reply = {200, "The endpoint with its new secret, which is shown this once."},
        .handler = decoded<kNothing, answers<kIssuedEndpoint, rotate_secret>>},
};
static_assert(well_formed(kEndpoints, "/v1/installations/{id}/webhook-endpoints"));

}  // namespace

std::span<const Endpoint> webhook_endpoint_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
