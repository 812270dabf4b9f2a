// Webhook endpoints (specification 2.9, docs/webhooks.md "Webhook endpoints"): URLs that receive an
// installation's events, each with a secret that is shown once and can be rotated without an
// interruption. See service/webhooks/deliveries.hpp for the deliveries.
#pragma once

#include "base/secret.hpp"
#include "rules/webhooks/endpoints.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostEndpoints = 200;  // per installation
// Per organization, including disabled installations: the runner looks at every endpoint of all
// tenants, and creates a delivery of an event for each endpoint that subscribes to it.
inline constexpr std::int64_t kMostEndpointsInAll = 500;
inline constexpr std::size_t kMostEventTypes = 100;  // per endpoint
inline constexpr std::size_t kLongestWebhookUrl = 2048;

// Identifies an endpoint below its installation.
struct EndpointRef {
    InstallationId installation;
    EndpointId endpoint;
};

struct NewWebhookEndpoint {
    std::string url;
    std::vector<std::string> event_types;
    std::optional<std::string> description = {};
};

struct EndpointChange {
    std::optional<std::string> url;
    std::optional<std::vector<std::string>> event_types;
    std::optional<rules::EndpointStatus> status;
    std::optional<std::optional<std::string>> description = {};  // the inner nullopt removes it
};

struct IssuedEndpoint {
    rules::WebhookEndpoint endpoint;
    Secret secret;  // returned only here
};

// Throws VALIDATION_ERROR with all faults of a URL and event types. Queries the name servers if
// `may_look_up`, so call it before a transaction is open.
void check_endpoint_fields(const Context& context, const std::optional<std::string>& url,
                           const std::optional<std::vector<std::string>>& event_types,
                           bool may_look_up);

// Creates an endpoint from fields that check_endpoint_fields() accepted, and mails the owners.
// Throws NOT_FOUND, and INVALID_STATE if the installation is disabled or a maximum number of
// endpoints is reached.
IssuedEndpoint create_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys,
                                       InstallationId installation,
                                       const NewWebhookEndpoint& fields);

std::optional<rules::WebhookEndpoint> find_webhook_endpoint(Context& context, OrgId organization,
                                                            const EndpointRef& ref);

// At most `limit` endpoints with an id greater than `after`, ordered by id. Throws NOT_FOUND for
// the installation.
std::vector<rules::WebhookEndpoint> list_webhook_endpoints(Context& context, OrgId organization,
                                                           InstallationId installation,
                                                           std::optional<EndpointId> after,
                                                           int limit);

// Throws if the caller may not send events to another URL.
using UrlCheck = std::function<void()>;

// Changes an endpoint; check_endpoint_fields() must have accepted the fields. Status active clears
// the recorded failures and ends the installation's status error. Status disabled cancels pending
// deliveries. Calls `check_url` before it changes the URL, and mails the owners about the new one.
// Throws NOT_FOUND.
rules::WebhookEndpoint change_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys,
                                               const EndpointRef& ref, const EndpointChange& change,
                                               const VersionCheck& check = {},
                                               const UrlCheck& check_url = {});

// Deletes the endpoint with all its deliveries. Throws NOT_FOUND.
void delete_webhook_endpoint(OrgTransaction& transaction, const EndpointRef& ref,
                             const VersionCheck& check = {});

// Creates a new secret. Requests are signed with the old one too for rules::kSecretOverlap. Throws
// NOT_FOUND, INVALID_STATE for a third rotation within that time.
IssuedEndpoint rotate_endpoint_secret(OrgTransaction& transaction, const KeyRing& keys,
                                      const EndpointRef& ref, const VersionCheck& check = {});

// For the operator: all endpoints of the organization, ordered by id.
using rules::EndpointHealth;
std::vector<EndpointHealth> list_endpoint_health(Context& context, OrgId organization);

}  // namespace muster::service
