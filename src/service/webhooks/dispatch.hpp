// The runner's side of webhooks: finds what is due, claims it under a lease, has it sent, and
// writes down what became of it (docs/webhooks.md "Deliveries"). Killed anywhere, the lease runs
// out and the next runner sends it again under the same webhook-id: at least once, and nothing is
// lost. Any number of runners may work side by side.
#pragma once

#include "service/context.hpp"
#include "service/webhooks/lanes.hpp"
#include "service/webhooks/results.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace muster::net {
class WebhookSender;
struct PostResult;
}  // namespace muster::net

namespace muster::service {

struct Claimed;

class WebhookDispatch {
  public:
    explicit WebhookDispatch(Context& context);
    // Breaks off what is under way; its leases run out.
    ~WebhookDispatch();
    WebhookDispatch(const WebhookDispatch&) = delete;
    WebhookDispatch& operator=(const WebhookDispatch&) = delete;

    // One round: looks for what is due now and then, claims, starts, and waits a moment for
    // results. Never longer than about a tenth of a second, and the database's time.
    void step();
    // Before the end: claims no more, gives back what has not begun, waits for what is under way as
    // long as `patience` says now, and gives back what has no answer by then, so that the next
    // runner begins it anew.
    void finish(const std::function<Milliseconds()>& patience);
    // Longer than any attempt takes.
    static constexpr Milliseconds kWholeAttempt{16'000};

    [[nodiscard]] std::size_t under_way() const { return posts_.size(); }

  private:
    struct PostUnderWay {
        Lane* lane;
        DeliveryId delivery;
        int made;
        Timestamp began;
    };

    void look_for_due();
    void look_for(bool failing);
    void claim();
    bool address(Lane& lane, const Claimed& claimed);
    void take(Claimed& claimed);
    [[nodiscard]] Milliseconds pause() const;
    void start(Lane& lane);
    void post(Lane& lane, const ReadyDelivery& delivery);
    void gather(Milliseconds at_most);
    void note(const net::PostResult& result);
    void record();
    void cancel_some();
    void give_back(const std::vector<std::pair<OrgId, DeliveryId>>& deliveries);
    void put_back(Lane& lane);
    void give_back_stale();

    Context& context_;
    std::unique_ptr<net::WebhookSender> sender_;
    Uuid owner_;
    Lanes lanes_;
    std::map<std::uint64_t, PostUnderWay> posts_;  // by tag
    std::uint64_t last_tag_ = 0;
    std::vector<std::pair<OrgId, DeliveryId>> stale_;  // to be given back
    std::vector<AttemptResult> results_;               // not recorded yet
    Timestamp first_result_;
    std::set<std::pair<OrgId, EndpointId>> canceling_;  // disabled, with pending deliveries
    Timestamp next_look_;
    Timestamp next_look_at_failing_;
    Timestamp next_claim_;
    bool told_of_secret_ = false;
    std::minstd_rand random_;
};

}  // namespace muster::service
