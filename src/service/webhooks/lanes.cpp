#include "service/webhooks/lanes.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr Milliseconds kSlow{2'000};
// Who answers so fast is given work ahead, so that a transaction claims more than a few: no more
// than is begun while it is fresh (webhook_dispatch.cpp).
constexpr Milliseconds kQuick{25};
constexpr std::size_t kAhead = 4;
// A quarter is kept for organizations that have few.
constexpr std::size_t kKeptShare = 4;

}  // namespace

Lane& Lanes::lane(OrgId organization, EndpointId endpoint) {
    const auto [entry, is_new] = lanes_.try_emplace({organization, endpoint});
    if (is_new) {
        entry->second.organization = organization;
        entry->second.endpoint = endpoint;
    }
    return entry->second;
}

void Lanes::enqueue(Lane& lane) {
    if (lane.waits) return;
    lane.waits = true;
    line_.push_back(&lane);
}

std::vector<std::pair<Lane*, std::size_t>> Lanes::next_claims(std::size_t most, Timestamp now) {
    Taken healthy;
    Taken suspects;
    for (const auto& [key, lane] : lanes_) {
        (is_suspect(lane) ? suspects : healthy).add(lane.organization, reserved(lane));
    }
    std::vector<std::pair<Lane*, std::size_t>> claims;
    std::deque<Lane*> stay;
    while (!line_.empty() && claims.size() < most) {
        Lane& lane = *line_.front();
        line_.pop_front();
        const std::size_t wanted = lane.not_before > now ? 0 : claimable(lane);
        // Those beyond the bound wait in the lane and need no connection of their own.
        const std::size_t starting =
            std::min(wanted, std::max(lane.under_way, bound(lane)) - reserved(lane));
        const std::size_t room = room_for(lane, healthy, suspects);
        if (starting > 0 && room == 0) {
            stay.push_back(&lane);
            continue;
        }
        lane.waits = false;
        if (wanted == 0) continue;
        const std::size_t started = std::min(starting, room);
        (is_suspect(lane) ? suspects : healthy).add(lane.organization, started);
        claims.emplace_back(&lane, started < starting ? started : wanted);
    }
    line_.insert(line_.begin(), stay.begin(), stay.end());
    return claims;
}

bool Lanes::may_start(const Lane& lane) const {
    return !lane.ready.empty() && lane.under_way < bound(lane);
}

void Lanes::note_result(Lane& lane, bool delivered, Milliseconds took) {
    --lane.under_way;
    lane.proven = delivered;
    lane.fails = !delivered;
    lane.last_took = took;
}

std::vector<Lane*> Lanes::with_ready() {
    std::vector<Lane*> found;
    for (auto& [key, lane] : lanes_) {
        if (!lane.ready.empty()) found.push_back(&lane);
    }
    return found;
}

std::size_t Lanes::bound(const Lane& lane) const {
    return lane.proven && !lane.fails ? endpoint_connections_ : 1;
}

bool Lanes::is_suspect(const Lane& lane) {
    return lane.fails || lane.last_took >= kSlow;
}

std::size_t Lanes::claimable(const Lane& lane) const {
    const std::size_t own = bound(lane);
    const bool is_quick = lane.proven && lane.last_took <= kQuick;
    const std::size_t capacity = own * (is_quick ? kAhead : 1);
    const std::size_t has = lane.under_way + lane.ready.size();
    // A lane with enough work for now waits until a claim is worth its transaction.
    return has * 2 >= capacity + own ? 0 : capacity - has;
}

std::size_t Lanes::room_for(const Lane& lane, const Taken& healthy, const Taken& suspects) const {
    const std::size_t free = connections_ - std::min(healthy.all + suspects.all, connections_);
    if (!is_suspect(lane)) return share(healthy, lane.organization, connections_, free);
    const std::size_t half = connections_ / 2;
    const std::size_t free_of_half = half - std::min(suspects.all, half);
    return std::min(free, share(suspects, lane.organization, half, free_of_half));
}

std::size_t Lanes::share(const Taken& taken, OrgId organization, std::size_t most,
                         std::size_t free) const {
    const auto found = taken.own.find(organization);
    const std::size_t own = found == taken.own.end() ? 0 : found->second;
    const std::size_t few = endpoint_connections_ - std::min(own, endpoint_connections_);
    return std::max(std::min(free, few), free - std::min(free, most / kKeptShare));
}

std::size_t Lanes::reserved(const Lane& lane) const {
    return std::max(lane.under_way, std::min(bound(lane), lane.under_way + lane.ready.size()));
}

}  // namespace muster::service
