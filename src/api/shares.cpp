#include "api/shares.hpp"

#include <algorithm>
#include <map>

namespace muster::api {
namespace {

// What an organization has got of the batch.
struct Part {
    std::size_t requests = 0;
    std::size_t weight = 0;
    bool has_permit = false;
};

class Division {
  public:
    Division(std::span<const Demand> demands, const GroupShare& share,
             std::vector<process::OrganizationShares::Permit>& held)
        : share_(share), held_(held) {
        for (const Demand& demand : demands) {
            const bool is_first = ++waiting_[demand.organization] == 1;
            if (is_first && share.active) share.active->note(demand.organization);
        }
        all_ = demands.size();
    }

    ShareResult next(const Demand& demand) {
        Part& part = parts_[demand.organization];
        const std::size_t weight = part.weight + demand.weight;
        if (part.requests > 0) {
            const bool others_wait = waiting_[demand.organization] < all_;
            const bool is_half = others_wait && part.requests >= share_.most_of_batch;
            if (is_half || weight > kHeaviestPart) return ShareResult::NextBatch;
        }
        if (weight >= share_.light && !take_permit(demand.organization, part)) {
            return ShareResult::NeedsPermit;
        }
        ++part.requests;
        part.weight = weight;
        return ShareResult::Run;
    }

    // Whether the requests of the organization run after those of others.
    bool is_last(const Demand& demand) const {
        const auto runs = [](const auto& part) { return part.second.requests > 0; };
        return std::ranges::count_if(parts_, runs) > 1 &&
               parts_.at(demand.organization).weight >= share_.light;
    }

  private:
    bool take_permit(const std::string& organization, Part& part) {
        if (!part.has_permit && share_.permits) {
            auto permit = share_.permits->try_acquire(organization, limit_of(share_, organization));
            if (!permit) return false;
            held_.push_back(std::move(*permit));
        }
        part.has_permit = true;
        return true;
    }

    const GroupShare& share_;
    std::vector<process::OrganizationShares::Permit>& held_;
    std::size_t all_ = 0;
    std::map<std::string, std::size_t> waiting_;
    std::map<std::string, Part> parts_;
};

}  // namespace

process::ShareLimit limit_of(const GroupShare& share, std::string_view organization) {
    const bool has_others = share.active && share.active->has_others(organization);
    if (has_others) return share.limit;
    return process::ShareLimit{std::max(share.limit.most, share.most_alone)};
}

std::vector<ShareResult> divide(std::span<const Demand> demands, const GroupShare& share,
                                std::vector<process::OrganizationShares::Permit>& held) {
    Division division(demands, share, held);
    std::vector<ShareResult> results;
    for (const Demand& demand : demands) results.push_back(division.next(demand));
    for (std::size_t i = 0; i < demands.size(); ++i) {
        if (results[i] == ShareResult::Run && division.is_last(demands[i])) {
            results[i] = ShareResult::RunLast;
        }
    }
    return results;
}

}  // namespace muster::api
