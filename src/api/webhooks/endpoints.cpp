// Serves /v1/installations/{id}/webhook-endpoints…: the URLs that receive an installation's events
// (specification 2.9, 4.3, docs/webhooks.md "Webhook endpoints"). deliveries.cpp serves their
// deliveries.
#include "service/webhooks/endpoints.hpp"

#include "api/authenticate.hpp"
#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "api/issued.hpp"
#include "api/webhooks/endpoint_ref.hpp"
#include "api/worker_state.hpp"
#include "rules/access/roles.hpp"
#include "rules/event_types.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Text;
using rules::WebhookEndpoint;
using service::EndpointChange;
using service::EndpointRef;
using service::NewWebhookEndpoint;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr Text kUrl{1, service::kLongestWebhookUrl};
constexpr Text kEndpointDescription{1, 255};
constexpr auto kEventTypes =
    json::array_of(Text{1, rules::kLongestEventType}, 1, service::kMostEventTypes);

constexpr auto kNewEndpoint = json::object<NewWebhookEndpoint>(
    json::required("url", &NewWebhookEndpoint::url, kUrl,
                   "Public HTTPS address that events are sent to.", "https://crm.example/hooks"),
    json::required("subscribed_event_types", &NewWebhookEndpoint::event_types, kEventTypes,
                   "Event types to send, without duplicates.", R"(["member.created"])"),
    json::optional("description", &NewWebhookEndpoint::description, kEndpointDescription,
                   "What the endpoint is for.", "CRM in production"));

constexpr auto kEndpointChange = json::object<EndpointChange>(
    json::changeable("url", &EndpointChange::url, kUrl,
                     "Public HTTPS address that events are sent to. If omitted, not changed.",
                     "https://crm.example/hooks"),
    json::changeable("subscribed_event_types", &EndpointChange::event_types, kEventTypes,
                     "Event types to send, without duplicates. If omitted, not changed.",
                     R"(["member.created"])"),
    json::changeable("status", &EndpointChange::status, json::Choice<rules::EndpointStatus>{},
                     "New status. If omitted, not changed."),
    json::clearable("description", &EndpointChange::description, kEndpointDescription,
                    "What the endpoint is for. null removes it. If omitted, not changed.",
                    "CRM in production"));

// ---------------------------------------------------------------------------- replies

using rules::RecentResults;
constexpr auto kRecentResults = record<RecentResults>(
    "WebhookResults",
    field<&RecentResults::succeeded>("succeeded", "Number of deliveries answered with 2xx."),
    field<&RecentResults::failed>("failed",
                                  "Number of deliveries that failed, after which no attempt "
                                  "follows."),
    field<&RecentResults::failed_attempts>(
        "failed_attempts", "Number of failed attempts, including those that are retried."));

constexpr auto kEndpoint = record<WebhookEndpoint>(
    "WebhookEndpoint", field<&WebhookEndpoint::id>("id", "Id of the record."),
    field<&WebhookEndpoint::module_installation_id>(
        "module_installation_id", "Id of the installation that the endpoint belongs to."),
    field<&WebhookEndpoint::organization_id>("organization_id",
                                             "Id of the organization that the record belongs to."),
    field<&WebhookEndpoint::url>("url", "Address that events are sent to.",
                                 "https://crm.example/hooks"),
    field<&WebhookEndpoint::description>(
        "description", "What the endpoint is for; null if not set.", "CRM in production"),
    field<&WebhookEndpoint::subscribed_event_types>("subscribed_event_types",
                                                    "Event types to send, in alphabetical order.",
                                                    R"(["member.created"])"),
    field<&WebhookEndpoint::status>(
        "status",
        "active: events are sent; paused: events wait up to 30 days; disabled: events are not queued."),
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
    field<&WebhookEndpoint::backlog_dropped_at>(
        "backlog_dropped_at",
        "Time when deliveries were last dropped because too many waited; null if none were."),
    RecordField<WebhookEndpoint>{"last_24_hours",
                                 "Results of the current hour and the 23 hours before it.",
                                 [](JsonWriter& to, const WebhookEndpoint& endpoint) {
                                     kRecentResults.write(to, endpoint.last_24_hours);
                                 },
                                 [] { return kRecentResults.schema(); }},
    field<&WebhookEndpoint::last_succeeded_at>("last_succeeded_at",
                                               "Time of the last success; null if there was none."),
    field<&WebhookEndpoint::created_at>("created_at", "Time when the record was created."),
    field<&WebhookEndpoint::updated_at>("updated_at", "Time of the last change."));

constexpr auto kEndpointList = list_of<kEndpoint>("WebhookEndpointList", "webhook_endpoints");

using service::IssuedEndpoint;
constexpr IssuedShape<kEndpoint, &IssuedEndpoint::endpoint, &IssuedEndpoint::secret>
    kIssuedEndpoint{"IssuedWebhookEndpoint", {"signing_secret"}};

// ---------------------------------------------------------------------------- handlers

auto list_endpoints(Call& call) {
    const auto after = call.cursor_id<EndpointId>();
    auto endpoints =
        service::list_webhook_endpoints(call.context, call.org(), call.id<InstallationId>(), after,
                                        call.query.integer("limit") + 1);
    return page_of(call, std::move(endpoints));
}

// Limits DNS look-ups, each of which may block a worker for two seconds if the name servers do not
// answer. Without a look-up, the address is validated only when an event is sent, which happens in
// any case.
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

auto get_endpoint(Call& call) {
    return service::find_webhook_endpoint(call.context, call.org(), endpoint_ref(call));
}

void check_change(Call& call, const EndpointChange& in) {
    service::check_endpoint_fields(call.context, in.url, in.event_types,
                                   in.url && may_look_up(call));
}

auto change_endpoint(Call& call, OrgTransaction& transaction, const EndpointChange& in) {
    // Events sent to another URL outlive a stolen session.
    const auto check_url = [&call] { require_recent_factor(call.caller); };
    return service::change_webhook_endpoint(transaction, call.context.keys, endpoint_ref(call), in,
                                            version_check(call), check_url);
}

void delete_endpoint(Call& call, OrgTransaction& transaction) {
    const auto ref = endpoint_ref(call);
    service::delete_webhook_endpoint(transaction, ref, version_check(call));
}

auto rotate_secret(Call& call, OrgTransaction& transaction, const Nothing&) {
    return service::rotate_endpoint_secret(transaction, call.context.keys, endpoint_ref(call),
                                           version_check(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kWebhookEndpointListQuery = {
    page_limit(),
    kPageCursor,
};
constexpr std::array kWebhookEndpointCreateErrors = {ErrorCode::InvalidState};
constexpr std::array kWebhookEndpointChangeErrors = {ErrorCode::TwoFactorTooOld};
constexpr std::array kWebhookRotationErrors = {ErrorCode::InvalidState};

constexpr std::array kWebhookEndpointEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/webhook-endpoints",
             .operation = "listWebhookEndpoints",
             .summary = "List an installation's webhook endpoints",
             .description =
                 "Lists the webhook endpoints of an installation with their status. The signing "
                 "secrets are not shown.",
             .query = kWebhookEndpointListQuery,
             .reply = {200, "A page of endpoints."},
             .handler = answers<kEndpointList, list_endpoints>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints",
        .operation = "createWebhookEndpoint",
        .summary = "Create a webhook endpoint",
        .description =
            "Creates an endpoint that receives events as signed webhooks. The URL must be public "
            "HTTPS. Only this reply and its replays contain the signing secret. Use an "
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
        .reply = with_version({201, "The endpoint."}),
        .errors = kWebhookEndpointCreateErrors,
        .handler =
            decoded<kNewEndpoint, checked<check_new, answers<kIssuedEndpoint, create_endpoint>>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}",
             .operation = "getWebhookEndpoint",
             .summary = "Get a webhook endpoint",
             .description =
                 "Returns one webhook endpoint with its status. The signing secret is not shown.",
             .reply = with_version({200, "The endpoint."}),
             .handler = answers<kEndpoint, get_endpoint>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}",
        .operation = "updateWebhookEndpoint",
        .summary = "Change, pause, disable or activate a webhook endpoint",
        .description =
            "Changes the fields that are sent and keeps the others. status pauses, disables or "
            "activates the endpoint: paused keeps events for 30 days, disabled cancels them. "
            "Activating clears disabled_reason and failing_since. A new url needs a second factor of "
            "the last 15 minutes.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "WebhookEndpointChange",
        .body_schema = schema_of<kEndpointChange>,
        .body_example = R"({"status": "paused"})",
        .reply = with_version({200, "The endpoint as it is now."}),
        .errors = kWebhookEndpointChangeErrors,
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
        .takes_if_match = true,
        .reply = {204, "Deleted."},
        .handler = answers_nothing<delete_endpoint>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/webhook-endpoints/{endpointId}/rotate-secret",
        .operation = "rotateWebhookSecret",
        .summary = "Rotate an endpoint's signing secret",
        .description =
            "Creates a new signing secret for an endpoint. For 24 hours, each webhook is signed with "
            "the old secret too, so that receivers can change over. A third rotation within 24 hours "
            "is rejected with INVALID_STATE. Only this reply and its replays contain the secret.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .reply = with_version({200, "The endpoint with its new secret."}),
        .errors = kWebhookRotationErrors,
        .handler = decoded<kNothing, answers<kIssuedEndpoint, rotate_secret>>},
};
static_assert(well_formed(kWebhookEndpointEndpoints, "/v1/installations/{id}/webhook-endpoints"));

}  // namespace

std::span<const Endpoint> webhook_endpoint_endpoints() {
    return kWebhookEndpointEndpoints;
}

}  // namespace muster::api
