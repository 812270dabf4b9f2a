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

// Locks an active endpoint, so that it is not disabled before the commit.
rules::WebhookEndpoint locked_active(OrgTransaction& transaction, const EndpointRef& ref) {
    const auto installation = lock_installation(transaction, ref.installation);
    db::OrgStore org(transaction.tx, transaction.org());
    auto endpoint = store::lock_webhook_endpoint(org, ref.installation, ref.endpoint);
    if (!endpoint) throw Error(ErrorCode::NotFound);
    if (installation.status == rules::InstallationStatus::Disabled) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the installation is disabled; enable it first");
    }
    if (endpoint->status != rules::EndpointStatus::Active) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the endpoint is " + std::string(text_of(endpoint->status)) +
                                  "; set it active first");
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

Recovered recover_since(OrgTransaction& transaction, const EndpointRef& ref, Timestamp since) {
    if (since > transaction.now) {
        Faults faults;
        faults.add("since", FieldCode::OutOfRange, "is in the future");
        throw Error(ErrorCode::ValidationError).fields(faults);
    }
    locked_active(transaction, ref);
    db::OrgStore org(transaction.tx, transaction.org());
    Recovered recovered;
    for (const auto status : {rules::DeliveryStatus::Failed, rules::DeliveryStatus::Canceled}) {
        recovered.queued += store::recover_deliveries(
            org, ref.endpoint, status, since, transaction.now, kMostRecovered - recovered.queued);
    }
    recovered.has_more = recovered.queued == kMostRecovered;
    return recovered;
}

}  // namespace

std::vector<WebhookDelivery> list_deliveries(Context& context, OrgId organization,
                                             const EndpointRef& ref,
                                             std::optional<DeliveryId> before,
                                             const DeliveryFilter& filter, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (!store::find_webhook_endpoint(org, ref.installation, ref.endpoint)) {
            throw Error(ErrorCode::NotFound);
        }
        auto deliveries = store::page_deliveries(org, ref.endpoint, before,
                                                 {filter.status, filter.event_type}, limit);
        store::read_attempts(org, deliveries);
        return deliveries;
    });
}

std::optional<WebhookDelivery> find_delivery(Context& context, OrgId organization,
                                             const EndpointRef& ref, DeliveryId id) {
    return context.database.autocommit([&](db::Tx& tx) -> std::optional<WebhookDelivery> {
        db::OrgStore org(tx, organization);
        if (!store::find_webhook_endpoint(org, ref.installation, ref.endpoint)) {
            return std::nullopt;
        }
        return read_delivery(org, ref.endpoint, id);
    });
}

WebhookDelivery test_endpoint(OrgTransaction& transaction, const EndpointRef& ref) {
    const auto endpoint = locked_active(transaction, ref);
    const auto id = emit_to(
        transaction, endpoint.id,
        {rules::event_type::kEndpointTest, std::nullopt, [&] { return test_data(endpoint); }});
    audit(transaction, "webhook_endpoint.tested", endpoint.id.text());
    db::OrgStore org(transaction.tx, transaction.org());
    auto delivery = read_delivery(org, endpoint.id, id);
    if (!delivery) throw std::runtime_error("a delivery that was just inserted does not exist");
    return std::move(*delivery);
}

WebhookDelivery redeliver(OrgTransaction& transaction, const EndpointRef& ref, DeliveryId id) {
    locked_active(transaction, ref);
    db::OrgStore org(transaction.tx, transaction.org());
    store::requeue_delivery(org, ref.endpoint, id, transaction.now);
    auto delivery = read_delivery(org, ref.endpoint, id);
    if (!delivery) throw Error(ErrorCode::NotFound);
    audit(transaction, "webhook_delivery.redelivered", id.text(),
          {{"endpoint_id", ref.endpoint.text()}});
    return std::move(*delivery);
}

Recovered recover_deliveries(OrgTransaction& transaction, const EndpointRef& ref, Timestamp since) {
    const Recovered recovered = recover_since(transaction, ref, since);
    audit(transaction, "webhook_endpoint.recovered", ref.endpoint.text(),
          {{"since", since.text()}, {"queued", std::to_string(recovered.queued)}});
    return recovered;
}

Recovered recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                             Timestamp since) {
    return context.database.transaction([&](db::Tx& tx) {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        db::OrgStore org(tx, organization);
        const auto installation = store::find_installation_of_endpoint(org, endpoint);
        if (!installation) throw Error(ErrorCode::NotFound);
        const Recovered recovered = recover_since(transaction, {*installation, endpoint}, since);
        audit_operator(tx, organization, "webhook_endpoint.recovered", endpoint.text(),
                       {{"since", since.text()}, {"queued", std::to_string(recovered.queued)}},
                       transaction.now);
        return recovered;
    });
}

}  // namespace muster::service
