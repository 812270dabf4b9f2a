// Divides the workers of a group, and the places of a batch, among the organizations that send
// requests (docs/decisions/http.md "A request costs its organization, not the others").
#pragma once

#include "process/active_organizations.hpp"
#include "process/organization_shares.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The share of each organization in a group of workers.
struct GroupShare {
    process::OrganizationShares* permits = nullptr;  // nullptr: no limit
    // An organization's part of a batch needs a permit above this weight.
    std::size_t light = 0;
    std::size_t most_of_batch = 1;  // its requests in a batch, while others wait
    // Workers that one organization may occupy. most_young holds while others send requests.
    process::ShareLimit limit = {};
    process::ActiveOrganizations* active = nullptr;
    // Instead of limit.most while no other organization sends requests, if it is more.
    std::size_t most_alone = 0;
};

// The permits that the organization may hold at present.
process::ShareLimit limit_of(const GroupShare& share, std::string_view organization);

// What a request of a batch costs whom.
struct Demand {
    std::string organization;
    std::size_t weight = 0;  // in bytes
};

enum class ShareResult : std::uint8_t {
    Run,
    RunLast,      // after the replies to the other organizations of the batch
    NextBatch,    // the organization has its part of this batch
    NeedsPermit,  // the organization occupies its share of the workers
};

// One organization's part of a batch, unless it is a single request.
inline constexpr std::size_t kHeaviestPart = std::size_t{256} << 10U;

// What happens to each request of a batch. While several organizations wait, one gets at most half
// of the batch, and a part above the light weight runs last. Adds the permits that the batch holds
// to `held`.
std::vector<ShareResult> divide(std::span<const Demand> demands, const GroupShare& share,
                                std::vector<process::OrganizationShares::Permit>& held);

}  // namespace muster::api
