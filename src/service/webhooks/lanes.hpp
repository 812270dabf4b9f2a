// Limits the deliveries in flight and the memory of their bodies. Each endpoint has a lane in the
// runner's memory.
// * An endpoint has at most `endpoint_connections` deliveries in flight. It has one while it fails
//   or before its first success.
// * All failing or slow endpoints together use at most half of the connections. The others always
//   have the other half.
// * Within each half, an organization with as many connections as one endpoint may have leaves a
//   quarter to other organizations.
// * An organization's bodies in memory have at most a quarter of the bytes that the bodies of other
//   organizations leave.
#pragma once

#include "base/ids.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::service {

// A claimed delivery that was not started yet.
struct ReadyDelivery {
    DeliveryId id;
    WebhookEventId event;
    int step = 0;  // number of previous attempts
    std::shared_ptr<const std::string> body;
    SteadyTime start_before;  // release it after this time: the endpoint may have been disabled
};

// A secret that also signs until its overlap ends.
struct RotatedSecret {
    Secret secret;
    Timestamp until;
};

struct Lane {
    OrgId organization;
    EndpointId endpoint;
    std::string url;
    Secret secret;
    std::vector<RotatedSecret> rotated_secrets;  // the newest first

    std::deque<ReadyDelivery> ready;
    std::size_t in_flight = 0;
    bool fails = false;                   // the last attempt failed
    bool proven = false;                  // the last attempt of this runner was delivered
    bool is_queued = false;               // queued for a claim
    bool has_more = false;                // the last claim left due deliveries
    std::size_t most_claimed = SIZE_MAX;  // deliveries of the next claim
    Milliseconds last_took{};
    SteadyTime not_before;    // claim nothing before this time
    SteadyTime next_warning;  // log no internal error before this time
};

class Lanes {
  public:
    // A claim for one lane reads bodies of at most this many bytes, or a single body. No event is
    // larger: the largest member has some 800 KiB.
    static constexpr std::size_t kClaimBytes = std::size_t{1} << 20U;

    // The maximum numbers of deliveries in flight, in total and per endpoint, and of bytes of
    // bodies in memory. The last claim may exceed the bytes by kClaimBytes.
    Lanes(std::size_t connections, std::size_t endpoint_connections, std::size_t body_bytes)
        : connections_(connections),
          endpoint_connections_(endpoint_connections),
          body_bytes_(body_bytes) {}

    // Creates the lane if it does not exist. The reference remains valid.
    Lane& lane(OrgId organization, EndpointId endpoint);
    // Queues the lane for a claim, unless it is queued already.
    void enqueue(Lane& lane);
    // Takes up to `most` lanes from the queue, each with the number of deliveries to claim. A lane
    // that needs nothing now leaves the queue; the next look for due deliveries queues it again. A
    // lane without a free connection or without memory for kClaimBytes remains in the queue.
    std::vector<std::pair<Lane*, std::size_t>> next_claims(std::size_t most, SteadyTime now);
    // After a claim. `is_cut`: the bodies of some deliveries exceeded kClaimBytes. The next claim
    // then asks for at most twice as many, because the database reads all of them for their sizes.
    void note_claim(Lane& lane, std::size_t count, bool has_more, bool is_cut);
    // Whether another delivery may start.
    [[nodiscard]] bool may_start(const Lane& lane) const;
    void note_result(Lane& lane, bool delivered, Milliseconds took);
    // The delivery ended by an internal error: it says nothing about the endpoint.
    void note_internal_failure(Lane& lane) { --lane.in_flight; }
    // The event's body: the one that other deliveries hold already, or `body`. It counts once, as
    // long as a delivery or its request holds it.
    std::shared_ptr<const std::string> share_body(OrgId organization, WebhookEventId event,
                                                  std::shared_ptr<const std::string> body);

    [[nodiscard]] bool has_waiting() const { return !queue_.empty(); }
    [[nodiscard]] std::vector<Lane*> with_ready();

  private:
    // Connections or bytes in use or reserved.
    struct InUse {
        std::size_t all = 0;
        std::unordered_map<OrgId, std::size_t> own;
        void add(OrgId organization, std::size_t more) {
            all += more;
            own[organization] += more;
        }
        [[nodiscard]] std::size_t of(OrgId organization) const {
            const auto found = own.find(organization);
            return found == own.end() ? 0 : found->second;
        }
    };

    [[nodiscard]] std::size_t bound(const Lane& lane) const;
    [[nodiscard]] static bool is_suspect(const Lane& lane);
    [[nodiscard]] std::size_t claimable(const Lane& lane) const;
    // The connections that the lane uses or has reserved.
    [[nodiscard]] std::size_t reserved(const Lane& lane) const;
    // How many more connections the lane may use now.
    [[nodiscard]] std::size_t available_for(const Lane& lane, const InUse& healthy,
                                            const InUse& suspects) const;
    // How many of the `free` connections (of `most`) the organization may use.
    [[nodiscard]] std::size_t share(const InUse& taken, OrgId organization, std::size_t most,
                                    std::size_t free) const;
    [[nodiscard]] InUse bytes_in_use();
    // Whether the organization may claim kClaimBytes.
    [[nodiscard]] bool has_memory(const InUse& bytes, OrgId organization) const;

    std::size_t connections_;
    std::size_t endpoint_connections_;
    std::size_t body_bytes_;
    // Weak: a body counts until the last delivery releases it, whatever the reason.
    std::map<std::pair<OrgId, WebhookEventId>, std::weak_ptr<const std::string>> bodies_;
    std::map<std::pair<OrgId, EndpointId>, Lane> lanes_;
    std::deque<Lane*> queue_;
};

}  // namespace muster::service
