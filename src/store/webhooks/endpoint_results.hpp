// The results of webhook endpoints by hour: what an endpoint shows of the last 24 hours.
#pragma once

#include "db/transaction.hpp"
#include "rules/webhooks/endpoints.hpp"

#include <span>

namespace muster::store {

// New results of an endpoint.
struct EndpointResults {
    EndpointId endpoint;
    rules::RecentResults results;
};
// Adds the results to those of this hour. Must be sorted by endpoint, to prevent deadlocks. Waits
// for no row of an endpoint.
void add_endpoint_results(db::OrgStore& org, std::span<const EndpointResults> results,
                          Timestamp now);
// Reads the results of this hour and the 23 hours before it, and the time of the last success.
void read_endpoint_results(db::OrgStore& org, std::span<rules::WebhookEndpoint> endpoints,
                           Timestamp now);
void delete_endpoint_results(db::OrgStore& org, EndpointId endpoint);

}  // namespace muster::store
