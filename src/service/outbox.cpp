#include "service/outbox.hpp"

#include "db/transaction.hpp"
#include "rules/quotas.hpp"
#include "rules/webhook_wire.hpp"
#include "store/outbox.hpp"

#include <set>

namespace muster::service {
namespace {

store::NewWebhookEvent new_event(const OrgTransaction& transaction, const Event& event) {
    return {WebhookEventId::create(), std::string(event.type),
            rules::webhook_body(event.type, transaction.now, event.data()), event.about};
}

// The types among the events that an endpoint subscribes to.
std::set<std::string_view> listened_types(db::OrgStore& org, std::span<const Event> events) {
    std::set<std::string_view> types;
    for (const Event& event : events) types.insert(event.type);
    std::erase_if(types, [&](std::string_view type) { return !store::has_listener(org, type); });
    return types;
}

std::int64_t bytes_of(const std::vector<store::NewWebhookEvent>& events) {
    std::int64_t bytes = 0;
    for (const store::NewWebhookEvent& event : events) {
        bytes += rules::kWebhookEventRowBytes + static_cast<std::int64_t>(event.body.size());
    }
    return bytes;
}

}  // namespace

std::int64_t emit(OrgTransaction& transaction, std::span<const Event> events) {
    if (events.empty()) return 0;
    db::OrgStore org(transaction.tx, transaction.org());
    const auto listened = listened_types(org, events);
    std::vector<store::NewWebhookEvent> written;
    for (const Event& event : events) {
        if (listened.contains(event.type)) written.push_back(new_event(transaction, event));
    }
    store::insert_webhook_events(org, written, transaction.now);
    store::insert_outbox(org, written, transaction.now);
    return bytes_of(written);
}

std::int64_t emit(OrgTransaction& transaction, const Event& event) {
    return emit(transaction, std::span(&event, 1));
}

DeliveryId emit_to(OrgTransaction& transaction, EndpointId endpoint, const Event& event) {
    db::OrgStore org(transaction.tx, transaction.org());
    const store::NewWebhookEvent written = new_event(transaction, event);
    const store::NewDelivery delivery{DeliveryId::create(), endpoint, written.id, transaction.now};
    store::insert_webhook_events(org, {&written, 1}, transaction.now);
    store::insert_deliveries(org, {&delivery, 1}, transaction.now);
    return delivery.id;
}

}  // namespace muster::service
