// Webhooks for the database tests: an installation, its endpoints, and deliveries in any state.
#pragma once

#include "db/fixture.hpp"
#include "rules/webhooks/endpoints.hpp"
#include "service/access/team.hpp"
#include "service/webhooks/deliveries.hpp"
#include "service/webhooks/endpoints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

// The fixture: an organization with an enabled installation, and an acting admin.
struct EndpointFixture : Fixture {
    void set_installation(std::string_view status) {
        client.execute("UPDATE module_installations SET status = ? WHERE id = ?", status, shop);
    }
    std::string installation_status() {
        return client.value("SELECT status FROM module_installations WHERE id = ?", shop);
    }

    // As an admin, through the API.
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return work(transaction);
        });
    }
    service::IssuedEndpoint create(std::vector<std::string> types = {"member.created"}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_webhook_endpoint(transaction, context.keys, shop,
                                                    {"https://example.org/hook", types, {}});
        });
    }
    rules::WebhookEndpoint change(EndpointId endpoint, const service::EndpointChange& change) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::change_webhook_endpoint(transaction, context.keys, {shop, endpoint},
                                                    change);
        });
    }
    rules::WebhookEndpoint set_status(EndpointId endpoint, rules::EndpointStatus status) {
        service::EndpointChange to;
        to.status = status;
        return change(endpoint, to);
    }
    rules::WebhookEndpoint read(EndpointId endpoint) {
        for (const auto& found :
             service::list_webhook_endpoints(context, acme, shop, std::nullopt, 1000)) {
            if (found.id == endpoint) return found;
        }
        throw std::out_of_range("no such endpoint");
    }

    // A delivery of that age and state; `owner`: a runner holds its lease.
    DeliveryId deliver(EndpointId endpoint, std::string_view status,
                       std::string_view type = "member.created", Timestamp when = Timestamp::now(),
                       std::optional<Uuid> owner = {}) {
        const WebhookEventId event = WebhookEventId::create();
        const DeliveryId delivery = DeliveryId::create();
        client.execute(
            "INSERT INTO webhook_events (organization_id, id, type, body, created_at) "
            "VALUES (?, ?, ?, '{}', ?)",
            acme, event, type, when);
        const auto due =
            status == "pending" ? std::optional(when + Milliseconds(5000)) : std::nullopt;
        client.execute(
            "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
            "step, due_at, lease_owner, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 3, ?, ?, "
            "?, ?)",
            acme, delivery, endpoint, event, status, due, owner, when, when);
        return delivery;
    }
    void attempt(DeliveryId delivery, std::string_view attempt_class,
                 std::optional<std::int64_t> status, std::optional<std::string> excerpt = {}) {
        client.execute(
            "INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, status_code, "
            "duration_ms, excerpt, created_at) VALUES (?, ?, ?, ?, ?, 7, ?, ?)",
            acme, AttemptId::create(), delivery, attempt_class, status, excerpt, Timestamp::now());
    }
    // "status step", and whether it is due and leased: "pending 0 due", "failed 3".
    std::string state(DeliveryId delivery) {
        return client.value(
            "SELECT CONCAT(status, ' ', step, IF(due_at IS NULL, '', IF(due_at <= ?, ' due', "
            "' later')), IF(lease_owner IS NULL, '', ' leased')) FROM webhook_deliveries "
            "WHERE id = ?",
            Timestamp::now(), delivery);
    }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
    InstallationId shop = install(acme);
};

}  // namespace muster::test
