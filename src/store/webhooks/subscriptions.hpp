// The index of subscriptions: which endpoints subscribe to a type of event. A change of an endpoint
// writes it. Programs older than schema version 8 do not, so an endpoint without current rows is
// found by its event_types until the runner writes them.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Replaces the rows of an endpoint, whose row the transaction has locked or inserted.
void write_subscriptions(db::OrgStore& org, EndpointId endpoint, std::span<const std::string> types,
                         Timestamp updated_at);

// Notes that the rows are those of the endpoint as changed at `updated_at`.
void mark_indexed(db::OrgStore& org, EndpointId endpoint, Timestamp updated_at);

struct UnindexedEndpoint {
    OrgId organization;
    EndpointId endpoint;
};
// At most `limit` endpoints that have changed without write_subscriptions(), for example by an
// older program or by the rotation of a secret. Their rows may be out of date. Reads all endpoints.
std::vector<UnindexedEndpoint> find_unindexed(db::Tx& tx, int limit);

// Writes the rows of an endpoint by its event_types. Skips an endpoint that is locked.
void index_subscriptions(db::OrgStore& org, EndpointId endpoint);

// An endpoint that subscribes to a type, in any status.
struct Subscriber {
    EndpointId endpoint;
    bool is_ready = false;  // active and not failing
    Timestamp created_at;
    std::optional<Timestamp> disabled_at;  // nullopt: it receives events. Otherwise an upper bound.
};
std::vector<Subscriber> find_subscribers(db::OrgStore& org, std::string_view event_type);

}  // namespace muster::store
