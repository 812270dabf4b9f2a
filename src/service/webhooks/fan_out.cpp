#include "service/webhooks/fan_out.hpp"

#include "base/crypto.hpp"
#include "base/record.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "rules/webhooks/backlog.hpp"
#include "rules/webhooks/deliveries.hpp"
#include "service/access/budgets.hpp"
#include "service/audit.hpp"
#include "service/outbox.hpp"
#include "service/webhooks/disabling.hpp"
#include "store/outbox.hpp"
#include "store/webhooks/fan_out.hpp"
#include "store/webhooks/queue.hpp"
#include "store/webhooks/subscriptions.hpp"

#include <algorithm>

namespace muster::service {
namespace {

constexpr int kMostEvents = 100;  // of a turn
constexpr std::size_t kMostDeliveries = 1000;
// The clocks of two hosts may differ by this much.
constexpr Milliseconds kClockTolerance{5'000};
constexpr Milliseconds kIndexInterval{60'000};
constexpr int kIndexBatch = 200;
// Counting takes at most a twentieth of the time.
constexpr Milliseconds kCountInterval{1'000};
constexpr int kCountShare = 20;
// The record of an endpoint shows the last drop with this precision.
constexpr Milliseconds kDropPrecision{60'000};
constexpr rules::Budget kNoticesPerHour{1, std::chrono::hours(1)};

struct DroppedBacklog {
    EndpointId endpoint;
    InstallationId installation;
    OrgId organization;
    std::string url;
    std::int64_t waiting = 0;
    std::int64_t limit = 0;
};

constexpr auto kDroppedBacklog = record<DroppedBacklog>(
    "DroppedWebhookBacklog", field<&DroppedBacklog::endpoint>("endpoint_id", "Id of the endpoint."),
    field<&DroppedBacklog::installation>("module_installation_id",
                                         "Id of the installation that the endpoint belongs to."),
    field<&DroppedBacklog::organization>("organization_id",
                                         "Id of the organization that the record belongs to."),
    field<&DroppedBacklog::url>("url", "Address of the endpoint, without its query."),
    field<&DroppedBacklog::waiting>("waiting", "Number of deliveries that wait for the endpoint."),
    field<&DroppedBacklog::limit>("limit",
                                  "Number of deliveries of the organization that may wait."));

// Whether this runner may notify the organization now. All runners together notify it once an hour.
bool spend_backlog_notice(OrgTransaction& transaction) {
    constexpr std::string_view kKind = "webhook_notice";
    const std::string subject = sha256("backlog " + std::string(transaction.org().bytes()));
    return !try_spend(transaction.tx, kKind, subject, kNoticesPerHour, transaction.now)
                .wait_seconds;
}

// If an endpoint was deleted since it was found, the transaction runs again without it.
void insert_or_retry(db::OrgStore& org, std::span<const store::NewDelivery> deliveries,
                     Timestamp now) {
    try {
        store::insert_deliveries(org, deliveries, now);
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        throw db::RetryTransaction{"a webhook endpoint was deleted concurrently"};
    }
}

using Subscribers = std::map<std::string, std::vector<store::Subscriber>>;

const std::vector<store::Subscriber>& subscribers_of(db::OrgStore& org, const std::string& type,
                                                     Subscribers& known) {
    const auto [entry, is_new] = known.try_emplace(type);
    if (is_new) entry->second = store::find_subscribers(org, type);
    return entry->second;
}

// Begins like the event's id, so that the ids of deliveries are in the order of their events,
// however late the runner creates them.
DeliveryId new_delivery_id(WebhookEventId event) {
    constexpr std::size_t kOrderBytes = 8;  // of a UUIDv7: time and sequence
    std::string bytes(event.bytes().substr(0, kOrderBytes));
    bytes += DeliveryId::create().bytes().substr(kOrderBytes);
    return DeliveryId(*Uuid::from_bytes(bytes));
}

// Whether the endpoint received events at the time of the event.
bool receives(const store::Subscriber& subscriber, const store::OutboxEvent& event) {
    if (subscriber.created_at > event.created_at + kClockTolerance) return false;
    return !subscriber.disabled_at || *subscriber.disabled_at > event.created_at;
}

}  // namespace

// The part of an organization's outbox that one transaction takes.
struct FanOut::Piece {
    std::vector<WebhookEventId> events;
    std::vector<store::NewDelivery> deliveries;
    std::map<EndpointId, std::int64_t> pending;  // among the deliveries
    std::vector<EndpointId> ready;
    std::map<EndpointId, std::int64_t> dropped;
    bool has_noticed = false;

    void add(const store::Subscriber& to, const store::OutboxEvent& event) {
        const bool is_canceled = to.disabled_at.has_value();
        deliveries.push_back(
            {new_delivery_id(event.id), to.endpoint, event.id, event.created_at, is_canceled});
        if (is_canceled) return;
        if (++pending[to.endpoint] == 1 && to.is_ready) ready.push_back(to.endpoint);
    }
};

std::optional<FanOut::Turn> FanOut::turn() {
    index_endpoints();
    const auto organization = next_organization();
    if (!organization) return std::nullopt;
    Piece piece = piece_of(*organization);
    if (piece.events.empty()) return std::nullopt;
    if (piece.has_noticed) next_notices_[*organization] = steady_now() + kNoticesPerHour.within;
    Backlog& backlog = backlogs_[*organization];
    for (const auto& [endpoint, count] : piece.pending) {
        backlog.pending[endpoint] += count;
        backlog.total += count;
    }
    return Turn{*organization, std::move(piece.ready)};
}

// Empty if another transaction locks the rows. The next turn is another organization's.
FanOut::Piece FanOut::piece_of(OrgId organization) {
    const auto take = [&](db::Tx& tx) {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        return fan_out(transaction);
    };
    try {
        return context_.database.transaction(take, db::OnLockTimeout::Throw);
    } catch (const db::DbError& error) {
        using Kind = db::DbError::Kind;
        if (error.kind() != Kind::LockTimeout && error.kind() != Kind::Deadlock) throw;
        return {};
    }
}

// The organizations take turns in the order of their ids.
std::optional<OrgId> FanOut::next_organization() {
    const auto after = [&](OrgId last) {
        return context_.database.autocommit(
            [&](db::Tx& tx) { return store::next_in_outbox(tx, last); });
    };
    auto next = after(last_);
    if (!next && last_ != OrgId()) next = after(OrgId());
    last_ = next.value_or(OrgId());
    return next;
}

void FanOut::index_endpoints() {
    const SteadyTime now = steady_now();
    if (now < next_index_) return;
    next_index_ = now + kIndexInterval;
    const auto found = context_.database.autocommit(
        [](db::Tx& tx) { return store::find_unindexed(tx, kIndexBatch); });
    for (const store::UnindexedEndpoint& entry : found) {
        context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, entry.organization);
            store::index_subscriptions(org, entry.endpoint);
        });
    }
}

FanOut::Piece FanOut::fan_out(OrgTransaction& transaction) {
    db::OrgStore org(transaction.tx, transaction.org());
    Piece piece;
    create_deliveries(transaction, piece);
    insert_or_retry(org, piece.deliveries, transaction.now);
    store::delete_outbox(org, piece.events);
    if (!piece.dropped.empty()) note_dropped(transaction, piece);
    return piece;
}

void FanOut::create_deliveries(OrgTransaction& transaction, Piece& piece) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto events = store::lock_outbox(org, kMostEvents);
    if (events.empty()) return;
    const Backlog& backlog = backlog_of(transaction);
    Subscribers known;
    for (const store::OutboxEvent& event : events) {
        const auto& subscribers = subscribers_of(org, event.type, known);
        for (const store::Subscriber& subscriber : subscribers) {
            if (!receives(subscriber, event)) continue;
            if (!subscriber.disabled_at &&
                is_full(backlog, piece, subscriber.endpoint, subscribers.size())) {
                ++piece.dropped[subscriber.endpoint];
            } else {
                piece.add(subscriber, event);
            }
        }
        piece.events.push_back(event.id);
        if (piece.deliveries.size() >= kMostDeliveries) return;
    }
}

// ---------------------------------------------------------------------------- the backlog

const FanOut::Backlog& FanOut::backlog_of(OrgTransaction& transaction) {
    Backlog& backlog = backlogs_[transaction.org()];
    const SteadyTime began = steady_now();
    const bool is_current = backlog.counted_at && began < backlog.count_again_at;
    const bool seems_full = backlog.total >= context_.settings.webhooks.backlog;
    // If only the created deliveries make it full, some of them may have been sent.
    if (is_current && seems_full == backlog.was_full) return backlog;
    db::OrgStore org(transaction.tx, transaction.org());
    backlog.pending = store::count_pending(org);
    backlog.total = 0;
    for (const auto& [endpoint, count] : backlog.pending) backlog.total += count;
    backlog.was_full = backlog.total >= context_.settings.webhooks.backlog;
    backlog.counted_at = steady_now();
    backlog.count_again_at =
        *backlog.counted_at +
        std::max<SteadyTime::duration>(kCountInterval, kCountShare * (*backlog.counted_at - began));
    return backlog;
}

// An endpoint with less than its share of the bound gets deliveries, however many wait for others.
bool FanOut::is_full(const Backlog& backlog, const Piece& piece, EndpointId endpoint,
                     std::size_t subscribers) const {
    const auto count_in = [&](const std::map<EndpointId, std::int64_t>& counts) {
        const auto found = counts.find(endpoint);
        return found == counts.end() ? 0 : found->second;
    };
    const std::size_t is_new = backlog.pending.contains(endpoint) ? 0 : 1;
    const rules::WaitingDeliveries waiting{
        backlog.total + static_cast<std::int64_t>(piece.deliveries.size()),
        count_in(backlog.pending) + count_in(piece.pending),
        static_cast<std::int64_t>(std::max(subscribers, backlog.pending.size() + is_new))};
    return rules::backlog_room(waiting, context_.settings.webhooks.backlog) == 0;
}

void FanOut::note_dropped(OrgTransaction& transaction, Piece& piece) {
    db::OrgStore org(transaction.tx, transaction.org());
    std::vector<EndpointId> endpoints;
    std::int64_t dropped = 0;
    const auto& waiting = backlogs_[transaction.org()].pending;
    std::pair<std::int64_t, EndpointId> fullest{-1, {}};
    for (const auto& [endpoint, count] : piece.dropped) {
        endpoints.push_back(endpoint);
        dropped += count;
        const auto found = waiting.find(endpoint);
        fullest = std::max(fullest, {found == waiting.end() ? 0 : found->second, endpoint});
    }
    store::set_dropped(org, endpoints, transaction.now - kDropPrecision, transaction.now);
    if (steady_now() >= next_notices_[transaction.org()]) {
        piece.has_noticed = true;
        if (spend_backlog_notice(transaction)) notify(transaction, fullest.second, fullest.first);
    }
    // Last, because every runner locks this row.
    const store::AttemptCount total{std::string(rules::kDroppedClass), dropped};
    store::add_attempt_totals(transaction.tx, {&total, 1});
}

void FanOut::notify(OrgTransaction& transaction, EndpointId endpoint, std::int64_t waiting) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto target = store::find_target(org, endpoint);
    if (!target) return;
    const std::int64_t limit = context_.settings.webhooks.backlog;
    const DroppedBacklog dropped{endpoint,          target->installation,
                                 transaction.org(), std::string(url_without_query(target->url)),
                                 waiting,           limit};
    emit(transaction, {rules::event_type::kBacklogDropped, std::nullopt,
                       [&] { return to_json(kDroppedBacklog, dropped); }});
    audit_system(transaction, "webhook_endpoint.backlog_dropped", endpoint.text(),
                 {{"waiting", std::to_string(waiting)}, {"limit", std::to_string(limit)}});
}

}  // namespace muster::service
