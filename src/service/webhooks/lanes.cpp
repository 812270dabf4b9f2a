#include "service/webhooks/lanes.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr Milliseconds kSlowAnswer{2'000};
constexpr Milliseconds kFastAnswer{25};
// So many deliveries are claimed for each connection of a fast endpoint, to make claims larger. The
// connections can start all of them in time (start_before in dispatch.cpp).
constexpr std::size_t kClaimAhead = 4;
// A quarter is reserved for organizations with few deliveries.
constexpr std::size_t kReservedFraction = 4;
// An organization may have this part of the bytes that others leave.
constexpr std::size_t kBytesFraction = 4;

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
    if (lane.is_queued) return;
    lane.is_queued = true;
    queue_.push_back(&lane);
}

std::vector<std::pair<Lane*, std::size_t>> Lanes::next_claims(std::size_t most, SteadyTime now) {
    InUse healthy;
    InUse suspects;
    for (const auto& [key, lane] : lanes_) {
        (is_suspect(lane) ? suspects : healthy).add(lane.organization, reserved(lane));
    }
    InUse bytes = bytes_in_use();
    std::vector<std::pair<Lane*, std::size_t>> claims;
    std::deque<Lane*> remaining;
    while (!queue_.empty() && claims.size() < most) {
        Lane& lane = *queue_.front();
        queue_.pop_front();
        const std::size_t count = lane.not_before > now ? 0 : claimable(lane);
        // Deliveries beyond the bound wait in the lane and need no connection.
        const std::size_t starting =
            std::min(count, std::max(lane.in_flight, bound(lane)) - reserved(lane));
        const std::size_t available = available_for(lane, healthy, suspects);
        const bool lacks_memory = count > 0 && !has_memory(bytes, lane.organization);
        if ((starting > 0 && available == 0) || lacks_memory) {
            remaining.push_back(&lane);
            continue;
        }
        lane.is_queued = false;
        if (count == 0) continue;
        const std::size_t started = std::min(starting, available);
        (is_suspect(lane) ? suspects : healthy).add(lane.organization, started);
        bytes.add(lane.organization, kClaimBytes);
        claims.emplace_back(&lane, started < starting ? started : count);
    }
    queue_.insert(queue_.begin(), remaining.begin(), remaining.end());
    return claims;
}

void Lanes::note_claim(Lane& lane, std::size_t count, bool has_more, bool is_cut) {
    lane.has_more = has_more;
    lane.most_claimed = is_cut ? 2 * std::max<std::size_t>(count, 1) : SIZE_MAX;
    // After a claim that was cut, the endpoint may have a free connection.
    if (has_more) enqueue(lane);
}

bool Lanes::may_start(const Lane& lane) const {
    return !lane.ready.empty() && lane.in_flight < bound(lane);
}

void Lanes::note_result(Lane& lane, bool delivered, Milliseconds took) {
    --lane.in_flight;
    lane.proven = delivered;
    lane.fails = !delivered;
    lane.last_took = took;
}

std::shared_ptr<const std::string> Lanes::share_body(OrgId organization, WebhookEventId event,
                                                     std::shared_ptr<const std::string> body) {
    auto& known = bodies_[{organization, event}];
    if (auto shared = known.lock()) return shared;
    known = body;
    return body;
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
    return lane.fails || lane.last_took >= kSlowAnswer;
}

std::size_t Lanes::claimable(const Lane& lane) const {
    const std::size_t own = bound(lane);
    const bool is_quick = lane.proven && lane.last_took <= kFastAnswer;
    const std::size_t capacity = own * (is_quick ? kClaimAhead : 1);
    const std::size_t has = lane.in_flight + lane.ready.size();
    // A lane with enough work waits until a claim is worth a transaction.
    return has * 2 >= capacity + own ? 0 : std::min(capacity - has, lane.most_claimed);
}

std::size_t Lanes::available_for(const Lane& lane, const InUse& healthy,
                                 const InUse& suspects) const {
    const std::size_t free = connections_ - std::min(healthy.all + suspects.all, connections_);
    if (!is_suspect(lane)) return share(healthy, lane.organization, connections_, free);
    const std::size_t half = connections_ / 2;
    const std::size_t free_of_half = half - std::min(suspects.all, half);
    return std::min(free, share(suspects, lane.organization, half, free_of_half));
}

std::size_t Lanes::share(const InUse& taken, OrgId organization, std::size_t most,
                         std::size_t free) const {
    const std::size_t own = taken.of(organization);
    const std::size_t few = endpoint_connections_ - std::min(own, endpoint_connections_);
    return std::max(std::min(free, few), free - std::min(free, most / kReservedFraction));
}

Lanes::InUse Lanes::bytes_in_use() {
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    InUse bytes;
    for (const auto& [key, body] : bodies_) bytes.add(key.first, body.lock()->size());
    return bytes;
}

bool Lanes::has_memory(const InUse& bytes, OrgId organization) const {
    const std::size_t own = bytes.of(organization);
    const std::size_t others = bytes.all - own;
    if (others >= body_bytes_) return false;
    // An organization without a body in memory always proceeds, however little is left.
    return own == 0 || own + kClaimBytes <= (body_bytes_ - others) / kBytesFraction;
}

std::size_t Lanes::reserved(const Lane& lane) const {
    return std::max(lane.in_flight, std::min(bound(lane), lane.in_flight + lane.ready.size()));
}

}  // namespace muster::service
