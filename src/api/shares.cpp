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
        for (const Demand& demand : demands) ++waiting_[demand.organization];
        all_ = demands.size();
    }

    ShareResult next(const Demand& demand) {
        Part& part = parts_[demand.organization];
        const std::size_t weight = part.weight + demand.weight;
        if (demand.may_wait && part.requests > 0) {
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

  private:
    bool take_permit(const std::string& organization, Part& part) {
        if (!part.has_permit && share_.permits) {
            auto permit = share_.permits->try_acquire(organization, share_.most);
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

std::vector<ShareResult> divide(std::span<const Demand> demands, const GroupShare& share,
                                std::vector<process::OrganizationShares::Permit>& held) {
    Division division(demands, share, held);
    std::vector<ShareResult> results;
    for (const Demand& demand : demands) results.push_back(division.next(demand));
    return results;
}

}  // namespace muster::api
