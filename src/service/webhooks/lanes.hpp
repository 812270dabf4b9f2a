// Who may have how many deliveries under way: a lane for each endpoint in a runner's memory. No
// endpoint has more than its bound; one that fails, or that has shown nothing yet, has one; and all
// that fail or are slow have half of the connections together at most, so that the others always
// find the other half, however many dead ones there are. Of both halves, an organization that has
// as many as one endpoint may have leaves a quarter to the others, however many endpoints it has.
#pragma once

#include "base/ids.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::service {

// A delivery that was claimed and waits for its turn.
struct ReadyDelivery {
    DeliveryId id;
    WebhookEventId event;
    int step = 0;  // attempts made before
    std::string body;
    Timestamp fresh_until;  // not begun later: the endpoint may have been stopped meanwhile
};

struct Lane {
    OrgId organization;
    EndpointId endpoint;
    std::string url;
    Secret secret;
    std::optional<Secret> previous_secret;
    std::optional<Timestamp> previous_secret_until;

    std::deque<ReadyDelivery> ready;
    std::size_t under_way = 0;
    bool fails = false;     // its last attempt did
    bool proven = false;    // its last attempt here was delivered
    bool waits = false;     // stands in the line for a claim
    bool has_more = false;  // the last claim took as many as it could
    Milliseconds last_took{};
    Timestamp not_before;  // nothing is claimed until then
};

class Lanes {
  public:
    // Bounds on what is under way: of all endpoints, of one.
    Lanes(std::size_t connections, std::size_t endpoint_connections)
        : connections_(connections), endpoint_connections_(endpoint_connections) {}

    // Made when it is new. It stays where it is.
    Lane& lane(OrgId organization, EndpointId endpoint);
    // Puts it at the end of the line for a claim, unless it stands there already.
    void enqueue(Lane& lane);
    // Takes up to `most` lanes that may claim something from the front of the line, each with how
    // much. Those that want nothing now leave the line too (what is due brings them back); those
    // for which no connection is free stay where they are.
    std::vector<std::pair<Lane*, std::size_t>> next_claims(std::size_t most, Timestamp now);
    // Whether another delivery may start.
    [[nodiscard]] bool may_start(const Lane& lane) const;
    void note_result(Lane& lane, bool delivered, Milliseconds took);

    [[nodiscard]] bool someone_waits() const { return !line_.empty(); }
    [[nodiscard]] std::vector<Lane*> with_ready();

  private:
    // Connections in use or about to be.
    struct Taken {
        std::size_t all = 0;
        std::unordered_map<OrgId, std::size_t> own;
        void add(OrgId organization, std::size_t more) {
            all += more;
            own[organization] += more;
        }
    };

    [[nodiscard]] std::size_t bound(const Lane& lane) const;
    [[nodiscard]] static bool is_suspect(const Lane& lane);
    [[nodiscard]] std::size_t claimable(const Lane& lane) const;
    // What of the connections a lane uses or is about to.
    [[nodiscard]] std::size_t reserved(const Lane& lane) const;
    // How many connections more the lane may have now.
    [[nodiscard]] std::size_t room_for(const Lane& lane, const Taken& healthy,
                                       const Taken& suspects) const;
    // How many of the `free` ones of `most` the organization may have.
    [[nodiscard]] std::size_t share(const Taken& taken, OrgId organization, std::size_t most,
                                    std::size_t free) const;

    std::size_t connections_;
    std::size_t endpoint_connections_;
    std::map<std::pair<OrgId, EndpointId>, Lane> lanes_;
    std::deque<Lane*> line_;
};

}  // namespace muster::service
