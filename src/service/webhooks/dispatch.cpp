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

// What a transaction claimed for a lane.
struct Claimed {
    Lane* lane;
    std::size_t wanted;
    store::Target target;
    std::vector<store::ClaimedDelivery> deliveries;
};

namespace {

// Failing endpoints are looked for less often: nobody waits for a retry to the tenth of a second.
constexpr Milliseconds kLook{100};
constexpr Milliseconds kLookAtFailing{500};
constexpr int kLookShare = 5;
constexpr int kEndpointsAtOnce = 1000;
// Several claims and several results go into one transaction each, which costs a little time.
constexpr Milliseconds kClaimEvery{10};
constexpr std::size_t kClaimsAtOnce = 32;
constexpr Milliseconds kRecordEvery{20};
constexpr std::size_t kResultsAtOnce = 256;
// More than an attempt ever takes (15 s), with time to wait for its turn and to be written down.
constexpr Milliseconds kLease{60'000};
// What was claimed and not begun by then is given back: who pauses, disables or deletes an endpoint
// may take that for the end of it, whatever was claimed ahead.
constexpr Milliseconds kFresh{100};
constexpr Milliseconds kUnreadable{60'000};

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
      lanes_(static_cast<std::size_t>(context.settings.webhooks.connections),
             static_cast<std::size_t>(context.settings.webhooks.endpoint_connections)),
      random_(std::random_device{}()) {}

WebhookDispatch::~WebhookDispatch() = default;

void WebhookDispatch::step() {
    look_for_due();
    give_back_stale();
    claim();
    cancel_some();
    gather(pause());
    const bool is_time = !results_.empty() && Timestamp::now() - first_result_ >= kRecordEvery;
    if (is_time || results_.size() >= kResultsAtOnce || posts_.empty()) record();
}

// How long there is nothing to do but to wait for results.
Milliseconds WebhookDispatch::pause() const {
    if (!canceling_.empty()) return Milliseconds(0);
    Timestamp until = next_look_;
    if (lanes_.someone_waits()) until = std::min(until, next_claim_);
    const Milliseconds left = std::max(until - Timestamp::now(), Milliseconds(0));
    return posts_.empty() && results_.empty() ? left : std::min(left, kRecordEvery);
}

// ---------------------------------------------------------------------------- what is due

void WebhookDispatch::look_for_due() {
    const Timestamp now = Timestamp::now();
    if (now < next_look_) return;
    look_for(false);
    if (now >= next_look_at_failing_) {
        look_for(true);
        next_look_at_failing_ = now + kLookAtFailing;
    }
    // Where there are so many endpoints that looking takes long, it must not be all that is done.
    const Milliseconds took = Timestamp::now() - now;
    next_look_ = now + std::max(kLook, kLookShare * took);
}

void WebhookDispatch::look_for(bool failing) {
    const auto due = context_.database.autocommit([&](db::Tx& tx) {
        return store::find_due_endpoints(tx, failing, Timestamp::now(), kEndpointsAtOnce);
    });
    for (const store::DueEndpoint& entry : due) {
        Lane& lane = lanes_.lane(entry.organization, entry.endpoint);
        if (failing) lane.fails = true;
        lanes_.enqueue(lane);
    }
}

// ---------------------------------------------------------------------------- claims

void WebhookDispatch::claim() {
    const Timestamp now = Timestamp::now();
    if (now < next_claim_ || !lanes_.someone_waits()) return;
    next_claim_ = now + kClaimEvery;
    auto claims = lanes_.next_claims(kClaimsAtOnce, now);
    if (claims.empty()) return;
    // In one order for all runners, so that none deadlocks another.
    std::sort(claims.begin(), claims.end(), [](const auto& left, const auto& right) {
        return std::tie(left.first->organization, left.first->endpoint) <
               std::tie(right.first->organization, right.first->endpoint);
    });
    auto all = context_.database.transaction([&](db::Tx& tx) {
        std::vector<Claimed> claimed;
        for (const auto& [lane, count] : claims) {
            db::OrgStore org(tx, lane->organization);
            const auto target = store::find_target(org, lane->endpoint);
            if (!target) continue;
            Claimed& one = claimed.emplace_back(Claimed{lane, count, *target, {}});
            if (!address(*lane, one)) continue;
            one.deliveries = store::claim_deliveries(org, lane->endpoint, owner_, now, now + kLease,
                                                     static_cast<int>(count));
        }
        return claimed;
    });
    for (Claimed& claimed : all) take(claimed);
}

// Takes over what the lane needs to send. False: nothing may be claimed for it.
bool WebhookDispatch::address(Lane& lane, const Claimed& claimed) {
    const store::Target& target = claimed.target;
    if (target.is_paused || target.is_disabled) return false;
    const std::string seal = rules::endpoint_seal_name(lane.endpoint);
    auto secret = context_.keys.open(target.secret, seal);
    if (!secret) {
        // During a rotation of the key it may be the next runner who has the right one.
        lane.not_before = Timestamp::now() + kUnreadable;
        if (!told_of_secret_) {
            log_event(LogLevel::Warning, "webhook.secret_unreadable",
                      {{"endpoint", lane.endpoint.text()}});
        }
        told_of_secret_ = true;
        return false;
    }
    lane.url = target.url;
    lane.secret = std::move(*secret);
    lane.previous_secret_until = target.previous_secret_until;
    lane.previous_secret = target.previous_secret.empty()
                               ? std::nullopt
                               : context_.keys.open(target.previous_secret, seal);
    if (target.failing_since) lane.fails = true;
    return true;
}

void WebhookDispatch::take(Claimed& claimed) {
    Lane& lane = *claimed.lane;
    if (claimed.target.is_disabled) canceling_.emplace(lane.organization, lane.endpoint);
    lane.has_more = claimed.deliveries.size() == claimed.wanted;
    // Not from the claim's beginning: a slow database must not make everything stale at once.
    const Timestamp fresh_until = Timestamp::now() + kFresh;
    for (store::ClaimedDelivery& delivery : claimed.deliveries) {
        lane.ready.push_back(
            {delivery.id, delivery.event, delivery.step, std::move(delivery.body), fresh_until});
    }
    start(lane);
}

// ---------------------------------------------------------------------------- posts

void WebhookDispatch::start(Lane& lane) {
    while (lanes_.may_start(lane)) {
        if (lane.ready.front().fresh_until < Timestamp::now()) return put_back(lane);
        const ReadyDelivery delivery = std::move(lane.ready.front());
        lane.ready.pop_front();
        post(lane, delivery);
    }
}

// To be claimed again, if they still may.
void WebhookDispatch::put_back(Lane& lane) {
    for (const ReadyDelivery& ready : lane.ready) stale_.emplace_back(lane.organization, ready.id);
    lane.ready.clear();
    lanes_.enqueue(lane);
}

void WebhookDispatch::give_back_stale() {
    give_back(stale_);
    stale_.clear();
}

void WebhookDispatch::post(Lane& lane, const ReadyDelivery& delivery) {
    const Timestamp now = Timestamp::now();
    std::vector<Secret> secrets{lane.secret};
    if (lane.previous_secret && lane.previous_secret_until && now < *lane.previous_secret_until) {
        secrets.push_back(*lane.previous_secret);
    }
    const std::string id = rules::webhook_id(delivery.event);
    net::Post post;
    post.tag = ++last_tag_;
    post.url = lane.url;
    post.headers = {
        {"webhook-id", id},
        {"webhook-timestamp", std::to_string(now.milliseconds() / 1000)},
        {"webhook-signature", rules::webhook_signatures(id, now, delivery.body, secrets)}};
    post.body = delivery.body;
    posts_.emplace(post.tag, PostUnderWay{&lane, delivery.id, delivery.step + 1, now});
    ++lane.under_way;
    sender_->start(std::move(post));
}

void WebhookDispatch::gather(Milliseconds at_most) {
    for (const net::PostResult& result : sender_->wait(at_most)) note(result);
}

void WebhookDispatch::note(const net::PostResult& result) {
    const auto entry = posts_.find(result.tag);
    if (entry == posts_.end()) return;
    const PostUnderWay post = entry->second;
    posts_.erase(entry);
    Lane& lane = *post.lane;
    if (results_.empty()) first_result_ = Timestamp::now();
    AttemptResult& attempt = results_.emplace_back();
    attempt.organization = lane.organization;
    attempt.endpoint = lane.endpoint;
    attempt.delivery = post.delivery;
    attempt.made = post.made;
    attempt.began = post.began;
    attempt.outcome = result.outcome;
    attempt.status = result.status;
    attempt.duration = result.duration;
    attempt.excerpt = result.excerpt;
    attempt.retry_after = result.retry_after;
    attempt.random = std::uniform_real_distribution<double>(0, 1)(random_);
    const bool delivered =
        rules::verdict_on(result.outcome, result.status) == rules::Verdict::Delivered;
    lanes_.note_result(lane, delivered, result.duration);
    start(lane);
    if (lane.has_more) lanes_.enqueue(lane);
}

// ---------------------------------------------------------------------------- results

void WebhookDispatch::record() {
    if (results_.empty()) return;
    // A database that is away for a moment changes nothing of what came of them.
    const auto disabled = record_attempts(context_, owner_, results_);
    results_.clear();
    for (const OwnEndpoint& entry : disabled) {
        lanes_.lane(entry.organization, entry.endpoint).ready.clear();
        canceling_.emplace(entry.organization, entry.endpoint);
    }
}

void WebhookDispatch::cancel_some() {
    if (canceling_.empty()) return;
    const auto [organization, endpoint] = *canceling_.begin();
    const bool has_more =
        context_.database.transaction([&, org = organization, id = endpoint](db::Tx& tx) {
            OrgTransaction transaction{tx, {org}, Timestamp::now()};
            return cancel_deliveries(transaction, id);
        });
    if (!has_more) canceling_.erase(canceling_.begin());
}

// ---------------------------------------------------------------------------- the end

void WebhookDispatch::finish(const std::function<Milliseconds()>& patience) {
    for (Lane* lane : lanes_.with_ready()) put_back(*lane);
    give_back_stale();
    const Timestamp began = Timestamp::now();
    while (!posts_.empty() && Timestamp::now() - began < patience()) {
        gather(kRecordEvery);
        record();
    }
    record();
    if (posts_.empty()) return;
    log_event(LogLevel::Info, "webhook.broken_off", {{"posts", posts_.size()}});
    std::vector<std::pair<OrgId, DeliveryId>> broken_off;
    for (auto& [tag, post] : posts_) {
        broken_off.emplace_back(post.lane->organization, post.delivery);
        --post.lane->under_way;
    }
    posts_.clear();
    sender_ = std::make_unique<net::WebhookSender>(sender_settings(context_.settings));
    give_back(broken_off);
}

void WebhookDispatch::give_back(const std::vector<std::pair<OrgId, DeliveryId>>& deliveries) {
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
