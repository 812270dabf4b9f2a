// Sends webhooks, for the runner: creates deliveries, finds due ones, claims them under a lease,
// sends them and records the results (docs/webhooks.md "Deliveries"). If a runner is killed, the
// lease expires and the next runner sends the delivery again with the same webhook-id: delivery is
// at least once. Several runners may run at the same time.
#pragma once

#include "service/context.hpp"
#include "service/webhooks/fan_out.hpp"
#include "service/webhooks/lanes.hpp"
#include "service/webhooks/results.hpp"

#include <cstdint>
#include <exception>
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
    // Aborts the requests in flight; their leases expire.
    ~WebhookDispatch();
    WebhookDispatch(const WebhookDispatch&) = delete;
    WebhookDispatch& operator=(const WebhookDispatch&) = delete;

    // One round: creates the deliveries of new events, finds due deliveries at intervals, claims
    // and starts some, and waits for results. Takes at most about 100 ms plus database time. If the
    // database fails, it handles the requests in flight and throws. Results are kept until a later
    // step records them.
    void step();
    // Handles the requests in flight for at most `at_most`, without the database.
    void collect_results(Milliseconds at_most);
    // Ends the work: claims nothing more, releases deliveries that were not started, waits for
    // requests in flight as long as `max_wait` currently returns, and releases the rest for the
    // next runner. It tries a database that fails for as long, and then throws.
    void finish(const std::function<Milliseconds()>& max_wait);
    // Longer than any attempt takes.
    static constexpr Milliseconds kLongestAttempt{16'000};

    [[nodiscard]] std::size_t in_flight() const { return posts_.size(); }

  private:
    struct PendingPost {
        Lane* lane;
        DeliveryId delivery;
        int made;
        Timestamp began;
        std::string url;
        std::string signature;
    };

    void find_work();
    void fan_out();
    void find_due();
    void find_due_endpoints(bool failing);
    void claim();
    bool prepare_lane(Lane& lane, const Claimed& claimed);
    void add_claimed(Claimed& claimed, SteadyTime leased_at);
    [[nodiscard]] Milliseconds pause() const;
    void start(Lane& lane);
    void post(Lane& lane, const ReadyDelivery& delivery);
    void fail_internally(Lane& lane, const ReadyDelivery& delivery, const std::exception& error);
    void handle_reply(const net::PostResult& result);
    void add_result(AttemptResult result);
    void record();
    void record_if_due();
    bool try_save();
    void interrupt_posts();
    void cancel_batch();
    void release(const std::vector<std::pair<OrgId, DeliveryId>>& deliveries);
    void release_ready(Lane& lane);
    void release_stale();

    Context& context_;
    std::unique_ptr<net::WebhookSender> sender_;
    Uuid owner_;
    FanOut fan_out_;
    Lanes lanes_;
    std::map<std::uint64_t, PendingPost> posts_;  // by tag
    std::uint64_t last_tag_ = 0;
    std::vector<net::PostResult> replies_;             // not handled yet, the last one first
    std::vector<std::pair<OrgId, DeliveryId>> stale_;  // to be released
    std::vector<AttemptResult> results_;               // not recorded yet
    SteadyTime first_result_;
    std::set<std::pair<OrgId, EndpointId>> canceling_;  // disabled, with pending deliveries
    SteadyTime next_fan_out_;
    SteadyTime next_look_;
    SteadyTime next_failing_look_;
    SteadyTime next_claim_;
    bool has_warned_ = false;
    std::minstd_rand random_;
};

}  // namespace muster::service
