// Serves /v1/engagement/keys…: publishable keys that pages use to send events and show ads
// (docs/engagement.md "Publishable keys").
#include "api/pages/publishable_keys.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::PublishableKey;

constexpr auto kTrackingKeyKind = PublishableKeyKind::Tracking;
constexpr json::Integer kRate{1, service::kHighestRate};

constexpr auto kNewTrackingKey = json::extended<NewPublishableKey>(
    kNewPublishableKey,
    json::optional("rate_limit_per_second", &NewPublishableKey::rate_per_second, kRate,
                   "Requests per second, up to the installation's default. If omitted: this "
                   "default. Only the operator issues keys with higher rates."),
    json::optional("burst", &NewPublishableKey::burst, kRate,
                   "Maximum burst of requests, up to the installation's default. If omitted: this "
                   "default."));

// null restores the installation's default.
constexpr auto kTrackingKeyChange = json::extended<PublishableKeyChange>(
    kPublishableKeyChange,
    json::clearable(
        "rate_limit_per_second", &PublishableKeyChange::rate_per_second, kRate,
        "Requests per second, up to the installation's default. null: this default. If omitted, "
        "not changed."),
    json::clearable(
        "burst", &PublishableKeyChange::burst, kRate,
        "Maximum burst of requests, up to the installation's default. null: this default. If "
        "omitted, not changed."));

constexpr auto kTrackingKey = publishable_key_record(
    "TrackingKey",
    field<&PublishableKey::rate_per_second>(
        "rate_limit_per_second", "Requests per second; null for the installation's default."),
    field<&PublishableKey::burst>(
        "burst", "Maximum burst of requests; null for the installation's default."));

constexpr auto kTrackingKeyList = list_of<kTrackingKey>("TrackingKeyList", "keys");

constexpr std::array kTrackingKeyEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/engagement/keys",
             .operation = "listTrackingKeys",
             .summary = "List the organization's tracking keys",
             .description =
                 "Lists the tracking keys of the organization, the oldest first. Revoked keys are "
                 "listed for 30 days.",
             .access = Access::Admin,
             .query = kPublishableKeyListQuery,
             .reply = {200, "A page of keys."},
             .handler = answers<kTrackingKeyList, list_publishable_keys<kTrackingKeyKind>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/engagement/keys",
        .operation = "createTrackingKey",
        .summary = "Issue a tracking key",
        .description =
            "Issues a tracking key, which pages use to send events and to show ads. It works on "
            "pages of its allowed_origins only. The key is public; every reply contains it. Repeat "
            "safely with an Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewTrackingKey",
        .body_schema = schema_of<kNewTrackingKey>,
        .body_example = R"({"name": "shop", "allowed_origins": ["https://shop.example"]})",
        .reply = {201, "The key."},
        .errors = kPublishableKeyCreateErrors,
        .handler = decoded<kNewTrackingKey,
                           answers<kTrackingKey, create_publishable_key<kTrackingKeyKind>>>,
        .changes_access = true},
    Endpoint{.method = Method::Get,
             .path = "/v1/engagement/keys/{id}",
             .operation = "getTrackingKey",
             .summary = "Get a tracking key",
             .description = "Returns one tracking key. A revoked key is 404 after 30 days.",
             .access = Access::Admin,
             .reply = {200, "The key."},
             .handler = answers<kTrackingKey, get_publishable_key<kTrackingKeyKind>>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/engagement/keys/{id}",
        .operation = "updateTrackingKey",
        .summary = "Change a tracking key",
        .description =
            "Changes the fields that are sent and keeps the others. null for expires_at removes "
            "the end; null for rate_limit_per_second or burst restores the installation's default. "
            "The change takes effect with the next request. A new origin or a later end needs a "
            "second factor of the last 15 minutes. A revoked key is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "TrackingKeyChange",
        .body_schema = schema_of<kTrackingKeyChange>,
        .body_example = R"({"allowed_origins": ["https://*.shop.example"], "burst": null})",
        .reply = {200, "The key."},
        .errors = kPublishableKeyChangeErrors,
        .handler = decoded<kTrackingKeyChange,
                           answers<kTrackingKey, change_publishable_key<kTrackingKeyKind>>>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/engagement/keys/{id}",
        .operation = "revokeTrackingKey",
        .summary = "Revoke a tracking key",
        .description =
            "Revokes a tracking key permanently. The next request with it is 401. The call can be "
            "repeated for 30 days; then it is 404.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .reply = {204, "Revoked."},
        .handler = answers_nothing<revoke_publishable_key<kTrackingKeyKind>>},
};
static_assert(well_formed(kTrackingKeyEndpoints, "/v1/engagement/keys"));

}  // namespace

std::span<const Endpoint> tracking_key_endpoints() {
    return kTrackingKeyEndpoints;
}

}  // namespace muster::api
