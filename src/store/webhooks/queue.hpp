// The queue of deliveries for the runner: due deliveries, leases and results
// (service/webhooks/dispatch.hpp).
#pragma once

#include "db/transaction.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

struct DueEndpoint {
    OrgId organization;
    EndpointId endpoint;
    Timestamp due;  // of its first pending delivery
};
// Endpoints with a due delivery, and disabled endpoints with any pending delivery, which is to be
// canceled; either failing endpoints or all others. First the longest due endpoint of each
// organization, then each organization's second, and so on, so that one organization cannot fill
// the list. An endpoint is disabled with its installation too. Excludes paused endpoints of other
// installations. Needs one index look-up per endpoint, and one more for a paused one and for one
// whose deliveries are not due.
std::vector<DueEndpoint> find_due_endpoints(db::Tx& tx, bool failing, Timestamp now, int limit);

// The data of an endpoint that a delivery needs.
struct Target {
    InstallationId installation;
    std::string url;
    bool is_paused = false;       // the endpoint; also while the organization is disabled
    bool is_disabled = false;     // the endpoint or its installation
    std::string secret;           // sealed
    std::string previous_secret;  // sealed; "" = none
    std::optional<Timestamp> previous_secret_until;
    std::string older_secret;  // sealed; "" = none
    std::optional<Timestamp> older_secret_until;
    std::optional<Timestamp> failing_since;
};
std::optional<Target> find_target(db::OrgStore& org, EndpointId endpoint);

struct ClaimedDelivery {
    DeliveryId id;
    WebhookEventId event;
    int step = 0;           // previous attempts
    std::int64_t size = 0;  // bytes of the body
    std::shared_ptr<const std::string> body;
};
struct ClaimLimit {
    int deliveries = 0;
    std::int64_t bytes = 0;  // of all bodies; the first delivery may exceed it
};
struct Claim {
    std::vector<ClaimedDelivery> deliveries;
    bool has_more = false;  // more deliveries may be due
    bool is_cut = false;    // more deliveries are due, and their bodies exceed the bytes
};
// Claims due deliveries up to the limit, the longest due first, and skips those that another runner
// is claiming. The owner's lease lasts until `until`. Reads no body of the deliveries that it
// leaves, and locks no event.
Claim claim_deliveries(db::OrgStore& org, EndpointId endpoint, const Uuid& owner, Timestamp now,
                       Timestamp until, const ClaimLimit& limit);

// The deliveries whose lease the owner still holds, sorted and locked until the transaction ends.
// Skips locked deliveries: the other transaction is ending the owner's lease.
std::vector<DeliveryId> lock_claimed(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                     const Uuid& owner);
// Ends the owner's leases and makes the deliveries due at `when`. Returns the number of changed
// deliveries.
std::int64_t release_deliveries(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                const Uuid& owner, Timestamp when);

struct NewAttempt {
    DeliveryId delivery;
    std::string outcome;
    std::optional<int> status_code;
    std::int64_t duration_ms = 0;
    std::string excerpt;    // "" = none
    std::string signature;  // the header that was sent
    Timestamp at;           // when the attempt began
};
void insert_attempts(db::OrgStore& org, std::span<const NewAttempt> attempts);

struct AttemptCount {
    std::string attempt_class;
    std::int64_t attempts = 0;
};
// Counts attempts for monitoring. Must be sorted by class, to prevent deadlocks.
void add_attempt_totals(db::Tx& tx, std::span<const AttemptCount> counts);
std::vector<AttemptCount> list_attempt_totals(db::Tx& tx);

// Counts an attempt and sets the status of locked deliveries to succeeded.
void set_succeeded(db::OrgStore& org, std::span<const DeliveryId> deliveries, Timestamp now);
// Counts an attempt of a locked delivery. `due_at`: the time of the next attempt; nullopt: the
// delivery has failed.
void set_attempted(db::OrgStore& org, DeliveryId delivery, std::optional<Timestamp> due_at,
                   Timestamp now);

// The failing endpoints among these, with the time of their first failure. Takes no locks, because
// transactions that create deliveries or change an endpoint hold the rows of endpoints.
std::map<EndpointId, Timestamp> find_failing(db::OrgStore& org,
                                             std::span<const EndpointId> endpoints);
// Locks the endpoints among these that are not locked yet, until the transaction ends, and returns
// them. Transactions that create deliveries or change an endpoint hold such locks, some of them for
// long, and results must not wait for them. The next result of a skipped endpoint updates it.
std::vector<EndpointId> lock_endpoints(db::OrgStore& org, std::span<const EndpointId> endpoints);
void clear_failing(db::OrgStore& org, std::span<const EndpointId> endpoints);
void set_failing(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp now);

// False if it was already disabled, or if it has not been failing since `failing_before` (if
// given).
bool disable_endpoint(db::OrgStore& org, EndpointId endpoint, std::string_view reason,
                      std::optional<Timestamp> failing_before, Timestamp now);
// Cancels at most `limit` pending deliveries, also leased ones; the owner of a lease then finds it
// ended. Returns their number.
std::int64_t cancel_pending(db::OrgStore& org, EndpointId endpoint, Timestamp now, int limit);
// Sets an enabled installation without an active endpoint to "error".
void set_error_without_endpoint(db::OrgStore& org, InstallationId installation, Timestamp now);

struct WebhookBacklog {
    std::int64_t pending = 0;         // counted up to kMostCounted
    std::optional<Timestamp> oldest;  // due time of the longest due delivery to an active endpoint
    std::optional<Timestamp> oldest_of_healthy;  // the same for endpoints that are not failing
};
inline constexpr int kMostCounted = 100'000;
WebhookBacklog measure_webhook_backlog(db::Tx& tx);

}  // namespace muster::store
