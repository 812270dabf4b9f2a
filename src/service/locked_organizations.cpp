#include "service/locked_organizations.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr std::chrono::seconds kFirst{1};
constexpr std::chrono::seconds kLongest{8};

}  // namespace

LockedOrganizations::Access LockedOrganizations::access(OrgId organization,
                                                        Clock::time_point now) const {
    const auto found = closed_.find(organization);
    if (found == closed_.end()) return Access::Open;
    return now < found->second.until ? Access::Closed : Access::Probe;
}

int LockedOrganizations::seconds_left(OrgId organization, Clock::time_point now) const {
    const auto found = closed_.find(organization);
    if (found == closed_.end()) return 1;
    const auto left = std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
    return static_cast<int>(std::max(left, kFirst).count());
}

void LockedOrganizations::timed_out(OrgId organization, Clock::time_point now) {
    const auto found = closed_.find(organization);
    const auto duration =
        found == closed_.end() ? kFirst : std::min(found->second.duration * 2, kLongest);
    if (found == closed_.end() && closed_.size() >= kMost) {
        closed_.erase(std::ranges::min_element(
            closed_, {}, [](const auto& entry) { return entry.second.until; }));
    }
    closed_.insert_or_assign(organization, Closed{now + duration, duration});
}

}  // namespace muster::service
