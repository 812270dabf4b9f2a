// Deliveries for an organization (docs/webhooks.md "Deliveries"): listed with their attempts,
// queued again one by one or since a time, and a test event. service/webhooks/dispatch.hpp sends
// them.
#pragma once

#include "rules/webhooks/deliveries.hpp"
#include "service/context.hpp"
#include "service/webhooks/endpoints.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

// An absent condition matches every delivery.
struct DeliveryFilter {
    std::optional<rules::DeliveryStatus> status = {};
    std::optional<std::string> event_type = {};
    std::optional<rules::AttemptClass> attempt_class = {};  // of the last attempt
    std::optional<Timestamp> since = {};                    // created at this time or later
    std::optional<Timestamp> until = {};                    // created before this time
};

struct DeliveryPage {
    std::vector<rules::WebhookDelivery> deliveries;  // without their payloads
    std::optional<std::string>
        next;  // the id before which the next page begins; nullopt at the end
};
// At most `limit` deliveries older than `before`, newest first: of an endpoint, or of all endpoints
// of the organization. A page may hold fewer although more follow, because it examines at most
// kMostExamined deliveries, and ends above a MiB of excerpts. Throws NOT_FOUND for the endpoint.
DeliveryPage list_deliveries(Context& context, OrgId organization,
                             const std::optional<EndpointRef>& ref,
                             std::optional<DeliveryId> before, const DeliveryFilter& filter,
                             int limit);
inline constexpr int kMostExamined = 2'000;
// With its payload. nullopt if the endpoint does not have the delivery.
std::optional<rules::WebhookDelivery> find_delivery(Context& context, OrgId organization,
                                                    const EndpointRef& ref, DeliveryId id);

// The following functions throw NOT_FOUND, and INVALID_STATE unless the endpoint is active and its
// installation is not disabled. `backlog`: how many deliveries of the organization may wait
// (webhooks.backlog). They throw INVALID_STATE, with the reason and the limit, if that many wait
// and the endpoint has its share (rules/webhooks/backlog.hpp).

// Sends an event of type webhook_endpoint.test to this endpoint only.
rules::WebhookDelivery test_endpoint(OrgTransaction& transaction, const EndpointRef& ref,
                                     std::int64_t backlog);
// Queues the delivery again from the first attempt on, with the same webhook id and whatever its
// result, and deletes all but its last attempts. A delivery that a runner is sending now is not
// changed, and not logged. One that waits already is queued at the bound too.
rules::WebhookDelivery redeliver(OrgTransaction& transaction, const EndpointRef& ref, DeliveryId id,
                                 std::int64_t backlog);
// One transaction queues at most this many deliveries again.
inline constexpr std::int64_t kMostRecovered = 5'000;
// A dry run counts at most this many.
inline constexpr std::int64_t kMostRecoverable = 10'000;
struct RecoverableCount {
    std::int64_t count = 0;
    bool exact = false;  // false: at least `count` deliveries match
};
struct Recovered {
    std::int64_t queued = 0;
    bool has_more = false;                     // call again
    std::optional<RecoverableCount> matching;  // of a dry run
};
struct Recovery {
    Timestamp since;
    std::optional<Timestamp> until;
    bool dry_run = false;  // only count
};
// Queues failed and canceled deliveries created at or after `since` and before `until` again, up to
// the bound of the backlog. Throws VALIDATION_ERROR if `since` is in the future, or `until` is not
// after it.
Recovered recover_deliveries(OrgTransaction& transaction, const EndpointRef& ref,
                             const Recovery& recovery, std::int64_t backlog);
// The same for the operator, without an installation.
Recovered recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                             Timestamp since);

}  // namespace muster::service
