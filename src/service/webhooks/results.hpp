// What became of webhooks, written down: attempts, the deliveries' next steps, and which endpoints
// fail. service/webhooks/dispatch.hpp makes the attempts.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::service {

struct AttemptResult {
    OrgId organization;
    EndpointId endpoint;
    DeliveryId delivery;
    int made = 1;  // attempts, this one included
    Timestamp began;
    std::string outcome;  // net/webhooks/sender.hpp
    std::optional<int> status;
    Milliseconds duration{};
    std::string excerpt;  // any bytes
    std::optional<Milliseconds> retry_after;
    double random = 0;  // [0, 1): spreads the next attempt
};

struct OwnEndpoint {
    OrgId organization;
    EndpointId endpoint;
};

// In one transaction, in the order in which the attempts ended. A result whose delivery is no
// longer the owner's (the lease ran out and another runner took it, or it was canceled, or is being
// so right now) is dropped: what has happened since is newer. The endpoints that were disabled over
// it.
std::vector<OwnEndpoint> record_attempts(Context& context, const Uuid& owner,
                                         std::span<const AttemptResult> results);

}  // namespace muster::service
