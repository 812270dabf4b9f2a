#include "service/outbox.hpp"

#include "db/transaction.hpp"
#include "rules/webhook_wire.hpp"
#include "store/outbox.hpp"

#include <algorithm>

namespace muster::service {
namespace {

// No statement grows with the events of a request: 100 of a body, for 100 endpoints each.
constexpr std::size_t kRowsAtOnce = 500;

store::NewWebhookEvent made(const OrgTransaction& transaction, const Event& event) {
    return {WebhookEventId::create(), std::string(event.type),
            rules::webhook_body(event.type, transaction.now, event.data()), event.about};
}

template <class Row>
void in_pieces(const std::vector<Row>& rows,
               const std::function<void(std::span<const Row>)>& insert) {
    for (std::size_t at = 0; at < rows.size(); at += kRowsAtOnce) {
        insert(std::span(rows).subspan(at, std::min(kRowsAtOnce, rows.size() - at)));
    }
}

// An endpoint may have been deleted since it was found: then everything runs again, without it.
void queue_deliveries(db::OrgStore& org, std::span<const store::NewDelivery> deliveries,
                      Timestamp now) {
    try {
        store::insert_deliveries(org, deliveries, now);
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        throw db::RetryTransaction{"a webhook endpoint was deleted meanwhile"};
    }
}

}  // namespace

void emit(OrgTransaction& transaction, std::span<const Event> events) {
    if (events.empty()) return;
    db::OrgStore org(transaction.tx, transaction.org());
    const auto listeners = store::find_listeners(org);
    std::vector<store::NewWebhookEvent> written;
    std::vector<store::NewDelivery> deliveries;
    for (const Event& event : events) {
        std::optional<WebhookEventId> id;
        for (const store::Listener& listener : listeners) {
            if (!rules::holds_type(listener.event_types, event.type)) continue;
            if (!id) id = written.emplace_back(made(transaction, event)).id;
            deliveries.push_back({DeliveryId::create(), listener.endpoint, *id});
        }
    }
    in_pieces<store::NewWebhookEvent>(
        written, [&](auto rows) { store::insert_webhook_events(org, rows, transaction.now); });
    in_pieces<store::NewDelivery>(deliveries,
                                  [&](auto rows) { queue_deliveries(org, rows, transaction.now); });
}

void emit(OrgTransaction& transaction, const Event& event) {
    emit(transaction, std::span(&event, 1));
}

DeliveryId emit_to(OrgTransaction& transaction, EndpointId endpoint, const Event& event) {
    db::OrgStore org(transaction.tx, transaction.org());
    const store::NewWebhookEvent written = made(transaction, event);
    const store::NewDelivery delivery{DeliveryId::create(), endpoint, written.id};
    store::insert_webhook_events(org, {&written, 1}, transaction.now);
    store::insert_deliveries(org, {&delivery, 1}, transaction.now);
    return delivery.id;
}

}  // namespace muster::service
