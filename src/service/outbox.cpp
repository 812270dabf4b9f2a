#include "service/outbox.hpp"

#include "db/transaction.hpp"
#include "rules/webhook_wire.hpp"
#include "store/outbox.hpp"

namespace muster::service {
namespace {

store::NewWebhookEvent new_event(const OrgTransaction& transaction, const Event& event) {
    return {WebhookEventId::create(), std::string(event.type),
            rules::webhook_body(event.type, transaction.now, event.data()), event.about};
}

// If an endpoint was deleted since it was found, the transaction runs again without it.
void queue_deliveries(db::OrgStore& org, std::span<const store::NewDelivery> deliveries,
                      Timestamp now) {
    try {
        store::insert_deliveries(org, deliveries, now);
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        throw db::RetryTransaction{"a webhook endpoint was deleted concurrently"};
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
            if (!id) id = written.emplace_back(new_event(transaction, event)).id;
            deliveries.push_back({DeliveryId::create(), listener.endpoint, *id});
        }
    }
    store::insert_webhook_events(org, written, transaction.now);
    queue_deliveries(org, deliveries, transaction.now);
}

void emit(OrgTransaction& transaction, const Event& event) {
    emit(transaction, std::span(&event, 1));
}

DeliveryId emit_to(OrgTransaction& transaction, EndpointId endpoint, const Event& event) {
    db::OrgStore org(transaction.tx, transaction.org());
    const store::NewWebhookEvent written = new_event(transaction, event);
    const store::NewDelivery delivery{DeliveryId::create(), endpoint, written.id};
    store::insert_webhook_events(org, {&written, 1}, transaction.now);
    store::insert_deliveries(org, {&delivery, 1}, transaction.now);
    return delivery.id;
}

}  // namespace muster::service
