#include "service/locked_organizations.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr std::chrono::milliseconds kFirst{10};
constexpr std::chrono::milliseconds kLongest{500};
// MySQL waits for a lock for at least a second (db/connection.hpp).
constexpr std::chrono::milliseconds kLongWait{100};
constexpr std::chrono::milliseconds kLongestAfterWait{8000};

}  // namespace

LockedOrganizations::Access LockedOrganizations::access(OrgId organization,
                                                        Clock::time_point now) const {
    const auto found = closed_.find(organization);
    if (found == closed_.end()) return Access::Open;
    return now < found->second.until ? Access::Closed : Access::Probe;
}

LockedOrganizations::Clock::time_point LockedOrganizations::next_attempt(
    OrgId organization, Clock::time_point now) const {
    const auto found = closed_.find(organization);
    return found == closed_.end() ? now + kFirst : found->second.until;
}

void LockedOrganizations::timed_out(OrgId organization, Clock::time_point now,
                                    std::chrono::milliseconds waited) {
    const auto found = closed_.find(organization);
    const auto growing = found == closed_.end() ? kFirst : found->second.duration * 2;
    const auto longest = waited > kLongWait ? kLongestAfterWait : kLongest;
    const auto duration = std::min(std::max(growing, waited), longest);
    if (found == closed_.end() && closed_.size() >= kMost) {
        closed_.erase(std::ranges::min_element(
            closed_, {}, [](const auto& entry) { return entry.second.until; }));
    }
    closed_.insert_or_assign(organization, Closed{now + duration, duration});
}

}  // namespace muster::service
