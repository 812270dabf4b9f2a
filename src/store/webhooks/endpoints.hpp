// Webhook endpoints of an organization's installations. Their secrets are sealed here
// (rules::endpoint_seal_name).
#pragma once

#include "db/transaction.hpp"
#include "rules/webhooks/endpoints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

void insert_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint,
                             std::string_view sealed_secret, std::optional<AdminId> created_by);
std::int64_t count_webhook_endpoints(db::OrgStore& org, InstallationId installation);
std::int64_t count_webhook_endpoints(db::OrgStore& org);
// That installation's alone.
std::optional<rules::WebhookEndpoint> find_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id);
// The same, locked until the transaction ends.
std::optional<rules::WebhookEndpoint> lock_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id);
// By id behind `after`.
std::vector<rules::WebhookEndpoint> page_webhook_endpoints(db::OrgStore& org,
                                                           InstallationId installation,
                                                           EndpointId after, int limit);
// Everything of it that can change, save the secrets.
void write_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint);
// The secret becomes the previous one, until then.
void rotate_webhook_secret(db::OrgStore& org, EndpointId id, std::string_view sealed_secret,
                           Timestamp previous_until, Timestamp now);
// With its deliveries and their attempts.
void delete_webhook_endpoint(db::OrgStore& org, EndpointId id);

// An endpoint with how many of its deliveries wait and have failed.
struct EndpointHealth {
    rules::WebhookEndpoint endpoint;
    std::int64_t pending = 0;
    std::int64_t failed = 0;
};
// All of the organization's, by id.
std::vector<EndpointHealth> list_endpoint_health(db::OrgStore& org);

// The installation that the endpoint belongs to.
std::optional<InstallationId> find_installation_of_endpoint(db::OrgStore& org, EndpointId id);

}  // namespace muster::store
