#include "service/webhooks/deliveries.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/json.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "service/audit.hpp"
#include "service/modules/installations.hpp"
#include "service/outbox.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoints.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

using rules::WebhookDelivery;

// An endpoint that may be sent to, locked, so that nobody disables it meanwhile.
rules::WebhookEndpoint locked_active(Unit& unit, const EndpointPlace& place) {
    const auto installation = lock_installation(unit, place.installation);
    db::OrgStore org(unit.tx, unit.org());
    auto endpoint = store::lock_webhook_endpoint(org, place.installation, place.endpoint);
    if (!endpoint) throw Error(ErrorCode::NotFound);
    if (installation.status == rules::InstallationStatus::Disabled) {
        throw Error(ErrorCode::InvalidState).detail("reason", "the installation is disabled");
    }
    if (endpoint->status != rules::EndpointStatus::Active) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the endpoint is " + std::string(text_of(endpoint->status)));
    }
    return std::move(*endpoint);
}

std::optional<WebhookDelivery> read_delivery(db::OrgStore& org, EndpointId endpoint,
                                             DeliveryId id) {
    auto delivery = store::find_delivery(org, endpoint, id);
    if (!delivery) return std::nullopt;
    std::vector<WebhookDelivery> one{std::move(*delivery)};
    store::read_attempts(org, one);
    return std::move(one.front());
}

std::string test_data(const rules::WebhookEndpoint& endpoint) {
    std::string data;
    JsonWriter json(data);
    json.begin_object();
    json.key("endpoint_id");
    json.string(endpoint.id.text());
    json.key("module_installation_id");
    json.string(endpoint.module_installation_id.text());
    json.key("organization_id");
    json.string(endpoint.organization_id.text());
    json.end_object();
    return data;
}

std::int64_t recover_since(Unit& unit, const EndpointPlace& place, Timestamp since) {
    if (since > unit.now) {
        Faults faults;
        faults.add("since", FieldCode::OutOfRange);
        throw Error(ErrorCode::ValidationError).fields(faults);
    }
    locked_active(unit, place);
    db::OrgStore org(unit.tx, unit.org());
    return store::recover_deliveries(org, place.endpoint, since, unit.now);
}

}  // namespace

std::vector<WebhookDelivery> list_deliveries(Context& context, OrgId organization,
                                             const EndpointPlace& place,
                                             std::optional<DeliveryId> before,
                                             const DeliveryFilter& filter, int limit) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (!store::find_webhook_endpoint(org, place.installation, place.endpoint)) {
            throw Error(ErrorCode::NotFound);
        }
        auto deliveries = store::page_deliveries(org, place.endpoint, before,
                                                 {filter.status, filter.event_type}, limit);
        store::read_attempts(org, deliveries);
        return deliveries;
    });
}

std::optional<WebhookDelivery> find_delivery(Context& context, OrgId organization,
                                             const EndpointPlace& place, DeliveryId id) {
    return context.database.read([&](db::Tx& tx) -> std::optional<WebhookDelivery> {
        db::OrgStore org(tx, organization);
        if (!store::find_webhook_endpoint(org, place.installation, place.endpoint)) {
            return std::nullopt;
        }
        return read_delivery(org, place.endpoint, id);
    });
}

WebhookDelivery test_endpoint(Unit& unit, const EndpointPlace& place) {
    const auto endpoint = locked_active(unit, place);
    const auto id = emit_to(
        unit, endpoint.id,
        {rules::event_type::kEndpointTest, std::nullopt, [&] { return test_data(endpoint); }});
    audit(unit, "webhook_endpoint.tested", endpoint.id.text());
    db::OrgStore org(unit.tx, unit.org());
    auto delivery = read_delivery(org, endpoint.id, id);
    if (!delivery) throw std::runtime_error("a delivery that was just written is gone");
    return std::move(*delivery);
}

WebhookDelivery redeliver(Unit& unit, const EndpointPlace& place, DeliveryId id) {
    locked_active(unit, place);
    db::OrgStore org(unit.tx, unit.org());
    store::requeue_delivery(org, place.endpoint, id, unit.now);
    auto delivery = read_delivery(org, place.endpoint, id);
    if (!delivery) throw Error(ErrorCode::NotFound);
    audit(unit, "webhook_delivery.redelivered", id.text(),
          {{"endpoint_id", place.endpoint.text()}});
    return std::move(*delivery);
}

std::int64_t recover_deliveries(Unit& unit, const EndpointPlace& place, Timestamp since) {
    const std::int64_t queued = recover_since(unit, place, since);
    audit(unit, "webhook_endpoint.recovered", place.endpoint.text(),
          {{"since", since.text()}, {"queued", std::to_string(queued)}});
    return queued;
}

std::int64_t recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                                Timestamp since) {
    return context.database.transaction([&](db::Tx& tx) {
        Unit unit{tx, {organization}, Timestamp::now()};
        db::OrgStore org(tx, organization);
        const auto installation = store::find_installation_of_endpoint(org, endpoint);
        if (!installation) throw Error(ErrorCode::NotFound);
        const std::int64_t queued = recover_since(unit, {*installation, endpoint}, since);
        audit_operator(tx, organization, "webhook_endpoint.recovered", endpoint.text(),
                       {{"since", since.text()}, {"queued", std::to_string(queued)}}, unit.now);
        return queued;
    });
}

}  // namespace muster::service
