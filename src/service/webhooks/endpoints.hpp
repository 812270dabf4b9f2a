// Webhook endpoints (specification 2.9, docs/webhooks.md "Webhook endpoints"): where an
// installation wants its events, with a secret that is shown once and can be rotated without a gap.
// What becomes of the deliveries is service/webhooks/deliveries.hpp.
#pragma once

#include "base/secret.hpp"
#include "rules/webhooks/endpoints.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostEndpoints = 200;  // an installation
// An organization, those of disabled installations included: the runner looks at each endpoint of
// all tenants, and a request tells each one of its organization.
inline constexpr std::int64_t kMostEndpointsInAll = 500;
inline constexpr std::size_t kMostEventTypes = 100;  // an endpoint
inline constexpr std::size_t kLongestWebhookUrl = 2048;

// Where an endpoint stands: every use-case finds it below its own installation only.
struct EndpointPlace {
    InstallationId installation;
    EndpointId endpoint;
};

struct NewWebhookEndpoint {
    std::string url;
    std::vector<std::string> event_types;
};

struct EndpointChange {
    std::optional<std::string> url;
    std::optional<std::vector<std::string>> event_types;
    std::optional<rules::EndpointStatus> status;
};

struct IssuedEndpoint {
    rules::WebhookEndpoint endpoint;
    Secret secret;  // shown this once
};

// Throws VALIDATION_ERROR with every fault of a URL and of event types that shall be an endpoint's.
// Asks the name servers: call it before a transaction is open.
void check_endpoint_fields(const Context& context, const std::optional<std::string>& url,
                           const std::optional<std::vector<std::string>>& event_types,
                           bool may_look_up);

// The fields must have been checked. Throws NOT_FOUND, and INVALID_STATE for an installation that
// is disabled, or where there are as many as there may be.
IssuedEndpoint create_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys,
                                       InstallationId installation,
                                       const NewWebhookEndpoint& fields);

// By id behind `after`, at most `limit`. Throws NOT_FOUND for the installation.
std::vector<rules::WebhookEndpoint> list_webhook_endpoints(Context& context, OrgId organization,
                                                           InstallationId installation,
                                                           std::optional<EndpointId> after,
                                                           int limit);

// The fields must have been checked. Active: a fresh start, which forgets what Muster had against
// it, and ends its installation's status error. Disabled: what waits is canceled. Throws NOT_FOUND.
rules::WebhookEndpoint change_webhook_endpoint(OrgTransaction& transaction,
                                               const EndpointPlace& place,
                                               const EndpointChange& change);

// With all its deliveries. Throws NOT_FOUND.
void delete_webhook_endpoint(OrgTransaction& transaction, const EndpointPlace& place);

// A new secret; the old one signs beside it for rules::kSecretOverlap. Throws NOT_FOUND.
IssuedEndpoint rotate_endpoint_secret(OrgTransaction& transaction, const KeyRing& keys,
                                      const EndpointPlace& place);

// For the operator: all of the organization's, with how many of their deliveries wait and failed.
struct EndpointHealth {
    rules::WebhookEndpoint endpoint;
    std::int64_t pending = 0;
    std::int64_t failed = 0;
};
std::vector<EndpointHealth> list_endpoint_health(Context& context, OrgId organization);

}  // namespace muster::service
