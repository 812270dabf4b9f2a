// Records the results of webhook attempts: the attempts, the next state of the deliveries, and
// which endpoints fail. service/webhooks/dispatch.hpp makes the attempts.
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
    std::string url;  // that was called
    int made = 1;     // number of attempts including this one
    Timestamp began;
    std::string outcome;  // net/webhooks/sender.hpp
    std::optional<int> status{};
    Milliseconds duration{};
    std::string excerpt{};  // any bytes
    std::string signature{};
    std::optional<Milliseconds> retry_after{};
    double random = 0;  // randomizes the time of the next attempt
};

struct OrgEndpoint {
    OrgId organization;
    EndpointId endpoint;
};

struct RecordedAttempts {
    std::vector<OrgEndpoint> disabled;  // as a consequence
    // Answers of 410 that were not recorded, because another transaction holds the endpoint's row.
    // Record them again soon: then the endpoint is disabled.
    std::vector<AttemptResult> held;
};

// Records the results in one transaction, in the order in which the attempts ended. A result is
// dropped if the delivery is no longer claimed by `owner`: its lease expired and another runner
// claimed it, or it was canceled.
RecordedAttempts record_attempts(Context& context, const Uuid& owner,
                                 std::span<const AttemptResult> results);

}  // namespace muster::service
