// Divides the workers of a group, and the places of a batch, among the organizations that send
// requests (docs/decisions/http.md "A request costs its organization, not the others").
#pragma once

#include "process/organization_shares.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::api {

// The share of each organization in a group of workers.
struct GroupShare {
    process::OrganizationShares* permits = nullptr;  // nullptr: no limit
    std::size_t most = 1;                            // workers that one organization may occupy
    // An organization's part of a batch needs a permit above this weight.
    std::size_t light = 0;
    std::size_t most_of_batch = 1;  // its requests in a batch, while others wait
};

// What a request of a batch costs whom.
struct Demand {
    std::string organization;
    std::size_t weight = 0;  // in bytes
    bool may_wait = true;    // false: it has waited as long as it may
};

enum class ShareResult : std::uint8_t {
    Run,
    NextBatch,    // the organization has its part of this batch
    NeedsPermit,  // the organization occupies its share of the workers
};

// One organization's part of a batch, unless it is a single request.
inline constexpr std::size_t kHeaviestPart = std::size_t{256} << 10U;

// What happens to each request of a batch. While several organizations wait, one gets at most half
// of the batch. Adds the permits that the batch holds to `held`.
std::vector<ShareResult> divide(std::span<const Demand> demands, const GroupShare& share,
                                std::vector<process::OrganizationShares::Permit>& held);

}  // namespace muster::api
