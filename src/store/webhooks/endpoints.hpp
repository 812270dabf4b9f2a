// Webhook endpoints of an organization's installations. Their secrets are sealed
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
// nullopt if the endpoint belongs to another installation.
std::optional<rules::WebhookEndpoint> find_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id);
// The same, locked until the transaction ends.
std::optional<rules::WebhookEndpoint> lock_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id);
// Ordered by id, after `after`.
std::vector<rules::WebhookEndpoint> page_webhook_endpoints(db::OrgStore& org,
                                                           InstallationId installation,
                                                           EndpointId after, int limit);
// Writes all fields that can change, except the secrets.
void write_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint);
// Makes the current secret the previous one, valid until `previous_until`. A previous secret that
// is still valid becomes the older one and keeps its end. False: there is a valid older secret
// already, and nothing was changed.
[[nodiscard]] bool rotate_webhook_secret(db::OrgStore& org, EndpointId id,
                                         std::string_view sealed_secret, Timestamp previous_until,
                                         Timestamp now);
// Hides the endpoint from the functions above and from the runner.
void remove_webhook_endpoint(db::OrgStore& org, EndpointId id, Timestamp now);
// Deletes at most `limit` deliveries of a removed endpoint with their attempts, and with the last
// ones the endpoint. Returns the number of deleted rows.
std::int64_t delete_removed_endpoint(db::OrgStore& org, EndpointId id, int limit);
struct RemovedEndpoint {
    OrgId organization;
    EndpointId id;
};
// The removed endpoints of all organizations.
std::vector<RemovedEndpoint> find_removed_endpoints(db::Tx& tx, Timestamp until, int limit);

// All endpoints of the organization, ordered by id.
std::vector<rules::EndpointHealth> list_endpoint_health(db::OrgStore& org);

// The installation that the endpoint belongs to.
std::optional<InstallationId> find_installation_of_endpoint(db::OrgStore& org, EndpointId id);

}  // namespace muster::store
