#include "service/webhooks/dispatch.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "net/webhooks/sender.hpp"
#include "rules/seal_names.hpp"
#include "rules/webhook_wire.hpp"
#include "rules/webhooks/retry_schedule.hpp"
#include "service/webhooks/disabling.hpp"
#include "store/webhooks/queue.hpp"

#include <algorithm>

namespace muster::service {

// The deliveries that a transaction claimed for a lane.
struct Claimed {
    Lane* lane;
    store::Target target;
    store::Claim claim;
};

namespace {

// Failing endpoints are queried less often, because retries need no precise timing.
constexpr Milliseconds kLookInterval{100};
// The look into the outbox is one index look-up. Creating deliveries must not delay sending them.
constexpr Milliseconds kOutboxInterval{50};
constexpr Milliseconds kFanOutTime{25};
constexpr Milliseconds kFailingLookInterval{500};
constexpr int kLookShare = 5;
constexpr int kEndpointBatch = 1000;
// Claims and results are batched into transactions, which adds a small delay.
constexpr Milliseconds kClaimInterval{10};
constexpr std::size_t kClaimBatch = 32;
constexpr Milliseconds kRecordInterval{20};
constexpr std::size_t kResultBatch = 256;
// While the database fails, a run that ends tries it this often.
constexpr Milliseconds kOutageInterval{500};
// Longer than an attempt (15 s) plus the time to wait for a connection and to record the result.
constexpr Milliseconds kLease{60'000};
// Claimed deliveries that are not started in this time are released, so that pausing, disabling or
// deleting an endpoint takes effect despite claims made ahead.
constexpr Milliseconds kStartDeadline{100};
// After a secret could not be decrypted.
constexpr Milliseconds kEndpointPause{60'000};
// Of the log, for internal errors at one endpoint.
constexpr Milliseconds kWarningInterval{60'000};
// Of bodies that are claimed or in flight.
constexpr std::size_t kBodyBytes = std::size_t{128} << 20U;

// The time between two looks, given when the last one began.
SteadyTime::duration interval(Milliseconds shortest, SteadyTime began) {
    return std::max<SteadyTime::duration>(shortest, kLookShare * (steady_now() - began));
}

net::SenderSettings sender_settings(const Settings& settings) {
    net::SenderSettings sender;
    sender.policy.allows_loopback = settings.webhooks.loopback;
    sender.policy.dns = settings.webhooks.dns;
    sender.ca_file = settings.webhooks.ca_file;
    return sender;
}

}  // namespace

WebhookDispatch::WebhookDispatch(Context& context)
    : context_(context),
      sender_(std::make_unique<net::WebhookSender>(sender_settings(context.settings))),
      owner_(Uuid::v7()),
      fan_out_(context),
      lanes_(static_cast<std::size_t>(context.settings.webhooks.connections),
             static_cast<std::size_t>(context.settings.webhooks.endpoint_connections), kBodyBytes),
      random_(std::random_device{}()) {}

WebhookDispatch::~WebhookDispatch() = default;

void WebhookDispatch::step() {
    try {
        find_work();
    } catch (...) {
        // Otherwise replies that arrive during an outage would be read too late, as timeouts.
        collect_results(Milliseconds(0));
        throw;
    }
    collect_results(pause());
    record_if_due();
}

void WebhookDispatch::find_work() {
    // Results of an outage come first. Their leases may have ended: a claim would send the
    // deliveries again, and under the new lease the old result would be recorded too.
    record_if_due();
    fan_out();
    find_due();
    release_stale();
    claim();
    cancel_batch();
}

// How long the loop may wait for results.
Milliseconds WebhookDispatch::pause() const {
    if (!canceling_.empty()) return Milliseconds(0);
    SteadyTime until = std::min(next_look_, next_fan_out_);
    if (lanes_.has_waiting()) until = std::min(until, next_claim_);
    const auto left =
        std::max(std::chrono::ceil<Milliseconds>(until - steady_now()), Milliseconds(0));
    return posts_.empty() && results_.empty() ? left : std::min(left, kRecordInterval);
}

// ---------------------------------------------------------------------------- due endpoints

// New deliveries are claimed at once. Failing endpoints are left to find_due_endpoints().
void WebhookDispatch::fan_out() {
    const SteadyTime began = steady_now();
    if (began < next_fan_out_) return;
    for (SteadyTime now = began; now - began < kFanOutTime; now = steady_now()) {
        const auto turn = fan_out_.turn();
        if (!turn) {
            // The look takes long while a backup keeps the database from removing deleted rows.
            next_fan_out_ = steady_now() + interval(kOutboxInterval, now);
            return;
        }
        for (const EndpointId& endpoint : turn->ready) {
            lanes_.enqueue(lanes_.lane(turn->organization, endpoint));
        }
    }
}

void WebhookDispatch::find_due() {
    const SteadyTime now = steady_now();
    if (now < next_look_) return;
    find_due_endpoints(false);
    if (now >= next_failing_look_) {
        find_due_endpoints(true);
        next_failing_look_ = now + kFailingLookInterval;
    }
    // With very many endpoints, the query takes long and must not use all the time.
    next_look_ = now + interval(kLookInterval, now);
}

void WebhookDispatch::find_due_endpoints(bool failing) {
    const Timestamp now = Timestamp::now();
    const auto due = context_.database.autocommit(
        [&](db::Tx& tx) { return store::find_due_endpoints(tx, failing, now, kEndpointBatch); });
    for (const store::DueEndpoint& entry : due) {
        if (entry.due > now) {  // a disabled endpoint
            canceling_.emplace(entry.organization, entry.endpoint);
            continue;
        }
        Lane& lane = lanes_.lane(entry.organization, entry.endpoint);
        if (failing) lane.fails = true;
        lanes_.enqueue(lane);
    }
}

// ---------------------------------------------------------------------------- claims

void WebhookDispatch::claim() {
    const SteadyTime began = steady_now();
    if (began < next_claim_ || !lanes_.has_waiting()) return;
    next_claim_ = began + kClaimInterval;
    auto claims = lanes_.next_claims(kClaimBatch, began);
    if (claims.empty()) return;
    // In the same order in all runners, to avoid deadlocks.
    std::sort(claims.begin(), claims.end(), [](const auto& left, const auto& right) {
        return std::tie(left.first->organization, left.first->endpoint) <
               std::tie(right.first->organization, right.first->endpoint);
    });
    SteadyTime leased_at;
    auto all = context_.database.transaction([&](db::Tx& tx) {
        leased_at = steady_now();
        const Timestamp now = Timestamp::now();
        std::vector<Claimed> claimed;
        for (const auto& [lane, count] : claims) {
            db::OrgStore org(tx, lane->organization);
            const auto target = store::find_target(org, lane->endpoint);
            if (!target) continue;
            Claimed& one = claimed.emplace_back(Claimed{lane, *target, {}});
            if (!prepare_lane(*lane, one)) continue;
            const store::ClaimLimit limit{static_cast<int>(count), Lanes::kClaimBytes};
            one.claim =
                store::claim_deliveries(org, lane->endpoint, owner_, now, now + kLease, limit);
        }
        return claimed;
    });
    for (Claimed& claimed : all) add_claimed(claimed, leased_at);
}

// Copies the address and secrets to the lane. Returns false if nothing may be claimed for it.
bool WebhookDispatch::prepare_lane(Lane& lane, const Claimed& claimed) {
    const store::Target& target = claimed.target;
    if (target.is_paused || target.is_disabled) return false;
    const std::string seal = rules::endpoint_seal_name(lane.endpoint);
    auto secret = context_.keys.open(target.secret, seal);
    if (!secret) {
        // During a key rotation, another runner may have the right key.
        lane.not_before = steady_now() + kEndpointPause;
        if (!has_warned_) {
            log_event(LogLevel::Warning, "webhook.secret_unreadable",
                      {{"endpoint", lane.endpoint.text()}});
        }
        has_warned_ = true;
        return false;
    }
    lane.url = target.url;
    lane.secret = std::move(*secret);
    lane.rotated_secrets.clear();
    const auto add = [&](const std::string& sealed, std::optional<Timestamp> until) {
        if (sealed.empty() || !until) return;
        if (auto opened = context_.keys.open(sealed, seal)) {
            lane.rotated_secrets.push_back({std::move(*opened), *until});
        }
    };
    add(target.previous_secret, target.previous_secret_until);
    add(target.older_secret, target.older_secret_until);
    if (target.failing_since) lane.fails = true;
    return true;
}

void WebhookDispatch::add_claimed(Claimed& claimed, SteadyTime leased_at) {
    Lane& lane = *claimed.lane;
    if (claimed.target.is_disabled) canceling_.emplace(lane.organization, lane.endpoint);
    auto& [deliveries, has_more, is_cut] = claimed.claim;
    lanes_.note_claim(lane, deliveries.size(), has_more, is_cut);
    // Counted from now and not from the begin of the claim: a slow database must not make all
    // claims stale. But if it took so long that the lease could end before the attempt does,
    // another runner would send the delivery too.
    const SteadyTime start_before =
        std::min<SteadyTime>(steady_now() + kStartDeadline, leased_at + kLease - kLongestAttempt);
    for (store::ClaimedDelivery& delivery : deliveries) {
        lane.ready.push_back(
            {delivery.id, delivery.event, delivery.step,
             lanes_.share_body(lane.organization, delivery.event, std::move(delivery.body)),
             start_before});
    }
    start(lane);
}

// ---------------------------------------------------------------------------- posts

void WebhookDispatch::start(Lane& lane) {
    while (lanes_.may_start(lane)) {
        if (lane.ready.front().start_before < steady_now()) return release_ready(lane);
        const ReadyDelivery delivery = std::move(lane.ready.front());
        lane.ready.pop_front();
        try {
            post(lane, delivery);
        } catch (const std::exception& error) {
            fail_internally(lane, delivery, error);
        }
    }
}

// A failed attempt, so that the delivery is retried later and does not stop the others.
void WebhookDispatch::fail_internally(Lane& lane, const ReadyDelivery& delivery,
                                      const std::exception& error) {
    add_result({.organization = lane.organization,
                .endpoint = lane.endpoint,
                .delivery = delivery.id,
                .url = lane.url,
                .made = delivery.step + 1,
                .began = Timestamp::now(),
                .outcome = std::string(rules::kInternalOutcome)});
    if (lane.has_more) lanes_.enqueue(lane);
    const SteadyTime now = steady_now();
    if (now < lane.next_warning) return;
    lane.next_warning = now + kWarningInterval;
    log_event(LogLevel::Error, "webhook.not_sent",
              {{"endpoint", lane.endpoint.text()},
               {"delivery", delivery.id.text()},
               {"reason", error.what()}});
}

// Releases the lane's claimed deliveries; they are claimed again if the endpoint is still active.
void WebhookDispatch::release_ready(Lane& lane) {
    for (const ReadyDelivery& ready : lane.ready) stale_.emplace_back(lane.organization, ready.id);
    lane.ready.clear();
    lanes_.enqueue(lane);
}

void WebhookDispatch::release_stale() {
    release(stale_);
    stale_.clear();
}

void WebhookDispatch::post(Lane& lane, const ReadyDelivery& delivery) {
    const Timestamp now = Timestamp::now();
    std::vector<Secret> secrets{lane.secret};
    for (const RotatedSecret& rotated : lane.rotated_secrets) {
        if (now < rotated.until) secrets.push_back(rotated.secret);
    }
    const std::string id = rules::webhook_id(delivery.event);
    const std::string signature = rules::webhook_signatures(id, now, *delivery.body, secrets);
    net::Post post;
    post.tag = ++last_tag_;
    post.url = lane.url;
    post.headers = {{"webhook-id", id},
                    {"webhook-timestamp", rules::webhook_timestamp(now)},
                    {"webhook-signature", signature}};
    post.body = delivery.body;
    const auto entry = posts_.emplace(
        post.tag, PendingPost{&lane, delivery.id, delivery.step + 1, now, lane.url, signature});
    try {
        sender_->start(std::move(post));
    } catch (...) {
        posts_.erase(entry.first);
        throw;
    }
    ++lane.in_flight;
}

void WebhookDispatch::collect_results(Milliseconds at_most) {
    if (replies_.empty()) {
        replies_ = sender_->wait(at_most);
        std::reverse(replies_.begin(), replies_.end());
    }
    while (!replies_.empty()) {
        handle_reply(replies_.back());
        replies_.pop_back();
    }
}

void WebhookDispatch::add_result(AttemptResult result) {
    if (results_.empty()) first_result_ = steady_now();
    result.random = std::uniform_real_distribution<double>(0, 1)(random_);
    results_.push_back(std::move(result));
}

void WebhookDispatch::handle_reply(const net::PostResult& result) {
    const auto entry = posts_.find(result.tag);
    if (entry == posts_.end()) return;
    const PendingPost& post = entry->second;
    Lane& lane = *post.lane;
    add_result({.organization = lane.organization,
                .endpoint = lane.endpoint,
                .delivery = post.delivery,
                .url = post.url,
                .made = post.made,
                .began = post.began,
                .outcome = result.outcome,
                .status = result.status,
                .duration = result.duration,
                .excerpt = result.excerpt,
                .signature = post.signature,
                .retry_after = result.retry_after});
    posts_.erase(entry);
    const auto meaning = rules::delivery_result(result.outcome, result.status);
    if (meaning == rules::DeliveryResult::SenderFailed) {
        lanes_.note_internal_failure(lane);
    } else {
        lanes_.note_result(lane, meaning == rules::DeliveryResult::Delivered, result.duration);
    }
    start(lane);
    if (lane.has_more) lanes_.enqueue(lane);
}

// ---------------------------------------------------------------------------- results

void WebhookDispatch::record() {
    if (results_.empty()) return;
    // The results remain valid while the database is unavailable.
    auto recorded = record_attempts(context_, owner_, results_);
    results_ = std::move(recorded.held);
    first_result_ = steady_now();
    for (const OrgEndpoint& entry : recorded.disabled) {
        lanes_.lane(entry.organization, entry.endpoint).ready.clear();
        canceling_.emplace(entry.organization, entry.endpoint);
    }
}

void WebhookDispatch::record_if_due() {
    const bool is_time = !results_.empty() && steady_now() - first_result_ >= kRecordInterval;
    if (is_time || results_.size() >= kResultBatch || posts_.empty()) record();
}

void WebhookDispatch::cancel_batch() {
    if (canceling_.empty()) return;
    const auto [organization, endpoint] = *canceling_.begin();
    const bool has_more =
        context_.database.transaction([&, org = organization, id = endpoint](db::Tx& tx) {
            OrgTransaction transaction{tx, {org}, Timestamp::now()};
            return cancel_deliveries(transaction, id);
        });
    if (!has_more) canceling_.erase(canceling_.begin());
}

// ---------------------------------------------------------------------------- shutdown

void WebhookDispatch::finish(const std::function<Milliseconds()>& max_wait) {
    for (Lane* lane : lanes_.with_ready()) release_ready(*lane);
    const SteadyTime began = steady_now();
    collect_results(Milliseconds(0));  // the database may take long to fail
    bool is_saved = try_save();
    while ((!posts_.empty() || !is_saved) && steady_now() - began < max_wait()) {
        collect_results(is_saved ? kRecordInterval : kOutageInterval);
        is_saved = try_save();
    }
    collect_results(Milliseconds(0));
    if (!posts_.empty()) interrupt_posts();
    record();
    // The next run sends these deliveries again, and is answered 410 too.
    for (const AttemptResult& held : results_)
        stale_.emplace_back(held.organization, held.delivery);
    results_.clear();
    release_stale();
}

// Records the results and releases what was not started. Returns false while the database fails, or
// another transaction holds an endpoint that is to be disabled.
bool WebhookDispatch::try_save() {
    try {
        record();
        release_stale();
        return results_.empty();
    } catch (const db::DbError&) {
        return false;
    }
}

void WebhookDispatch::interrupt_posts() {
    log_event(LogLevel::Info, "webhook.interrupted", {{"posts", posts_.size()}});
    for (auto& [tag, post] : posts_) {
        stale_.emplace_back(post.lane->organization, post.delivery);
        --post.lane->in_flight;
    }
    posts_.clear();
    sender_ = std::make_unique<net::WebhookSender>(sender_settings(context_.settings));
}

void WebhookDispatch::release(const std::vector<std::pair<OrgId, DeliveryId>>& deliveries) {
    if (deliveries.empty()) return;
    std::map<OrgId, std::vector<DeliveryId>> by_organization;
    for (const auto& [organization, delivery] : deliveries) {
        by_organization[organization].push_back(delivery);
    }
    context_.database.transaction([&](db::Tx& tx) {
        for (const auto& [organization, ids] : by_organization) {
            db::OrgStore org(tx, organization);
            store::release_deliveries(org, ids, owner_, Timestamp::now());
        }
    });
}

}  // namespace muster::service
