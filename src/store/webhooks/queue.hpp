// The queue of deliveries as the runner sees it: whose are due, claimed under a lease, and what
// became of them. service/webhooks/dispatch.hpp works on it.
#pragma once

#include "db/transaction.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

struct DueEndpoint {
    OrgId organization;
    EndpointId endpoint;
};
// Endpoints with a delivery that is due, of those that fail, or of all others: each organization's
// longest due one, then each one's second, so that nobody's many late ones fill the list. Paused
// ones are not among them. One look at the index for each endpoint, however much waits for it.
std::vector<DueEndpoint> find_due_endpoints(db::Tx& tx, bool failing, Timestamp now, int limit);

// An endpoint as whoever delivers to it needs it.
struct Target {
    InstallationId installation;
    std::string url;
    bool is_paused = false;
    bool is_disabled = false;     // the endpoint itself, or its installation
    std::string secret;           // sealed
    std::string previous_secret;  // sealed; "" = none
    std::optional<Timestamp> previous_secret_until;
    std::optional<Timestamp> failing_since;
};
std::optional<Target> find_target(db::OrgStore& org, EndpointId endpoint);

struct ClaimedDelivery {
    DeliveryId id;
    WebhookEventId event;
    int step = 0;  // attempts made before
    std::string body;
};
// Takes up to `limit` due ones, the longest due first, passing over those that another runner just
// takes. Until `until` they are the owner's.
std::vector<ClaimedDelivery> claim_deliveries(db::OrgStore& org, EndpointId endpoint,
                                              const Uuid& owner, Timestamp now, Timestamp until,
                                              int limit);

// Those of the deliveries whose lease is still the owner's, locked until the transaction ends. One
// that somebody else has locked is not waited for: they are taking it out of the owner's hands.
std::vector<DeliveryId> lock_claimed(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                     const Uuid& owner);
// Due again at `when`, the lease given up. For the owner's only; how many were.
std::int64_t give_back(db::OrgStore& org, std::span<const DeliveryId> deliveries, const Uuid& owner,
                       Timestamp when);

struct NewAttempt {
    DeliveryId delivery;
    std::string outcome;
    std::optional<int> status_code;
    std::int64_t duration_ms = 0;
    std::string excerpt;  // "" = none
    Timestamp at;         // when it began
};
void insert_attempts(db::OrgStore& org, std::span<const NewAttempt> attempts);

struct AttemptCount {
    std::string attempt_class;
    std::int64_t attempts = 0;
};
// Counts attempts for monitoring; sorted by class, so that nobody deadlocks.
void add_attempt_totals(db::Tx& tx, std::span<const AttemptCount> counts);
std::vector<AttemptCount> list_attempt_totals(db::Tx& tx);

// One attempt more each. Of locked ones.
void set_succeeded(db::OrgStore& org, std::span<const DeliveryId> deliveries, Timestamp now);
// One attempt more; `due_at`: of the next one, nullopt: the delivery has failed. Of a locked one.
void set_attempted(db::OrgStore& org, DeliveryId delivery, std::optional<Timestamp> due_at,
                   Timestamp now);

// Those of the endpoints that fail, with the moment of the first failure. Locks nothing: whoever
// emits an event holds the endpoint's row.
std::map<EndpointId, Timestamp> find_failing(db::OrgStore& org,
                                             std::span<const EndpointId> endpoints);
// Those of the endpoints that nobody else has locked, locked until the transaction ends: who emits
// an event holds them, and who changes one for a whole while, which others' results cannot wait
// for. The next result of an endpoint says what this one did.
std::vector<EndpointId> lock_endpoints(db::OrgStore& org, std::span<const EndpointId> endpoints);
void clear_failing(db::OrgStore& org, std::span<const EndpointId> endpoints);
void set_failing(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp now);

// False when it was disabled already, or has not failed since `failing_before` (if given).
bool disable_endpoint(db::OrgStore& org, EndpointId endpoint, std::string_view reason,
                      std::optional<Timestamp> failing_before, Timestamp now);
// What is pending is not to be sent any more, what is under way too: whoever holds a lease finds it
// gone. How many, at most `limit`.
std::int64_t cancel_pending(db::OrgStore& org, EndpointId endpoint, Timestamp now, int limit);
// An enabled installation without an active endpoint turns to "error".
void set_error_without_endpoint(db::OrgStore& org, InstallationId installation, Timestamp now);

struct WebhookBacklog {
    std::int64_t pending = 0;                    // counted up to kMostCounted
    std::optional<Timestamp> oldest;             // due longest, to any active endpoint
    std::optional<Timestamp> oldest_of_healthy;  // … to one that does not fail
};
inline constexpr int kMostCounted = 100'000;
WebhookBacklog measure_webhook_backlog(db::Tx& tx);

}  // namespace muster::store
