// The bound of the deliveries that wait (docs/webhooks.md "The backlog").
#pragma once

#include <algorithm>
#include <cstdint>

namespace muster::rules {

// Numbers of deliveries that wait, and of the endpoints that they wait for.
struct WaitingDeliveries {
    std::int64_t of_organization = 0;
    std::int64_t of_endpoint = 0;
    std::int64_t endpoints = 1;  // with waiting deliveries, and the one that is to get more
};

// How many further deliveries the endpoint may get: up to the bound `most` of the organization, and
// above it up to the endpoint's share of the bound. At least 0.
[[nodiscard]] constexpr std::int64_t backlog_room(const WaitingDeliveries& waiting,
                                                  std::int64_t most) {
    const std::int64_t share =
        std::max<std::int64_t>(most / std::max<std::int64_t>(waiting.endpoints, 1), 1);
    return std::max<std::int64_t>({most - waiting.of_organization, share - waiting.of_endpoint, 0});
}

}  // namespace muster::rules
