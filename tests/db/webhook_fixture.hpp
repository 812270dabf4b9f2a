// An organization with an installed module, its webhook endpoints, and their queued deliveries: for
// the tests of the runner's side of webhooks.
#pragma once

#include "base/text.hpp"
#include "db/fan_out.hpp"
#include "db/fixture.hpp"
#include "rules/seal_names.hpp"
#include "rules/webhook_wire.hpp"
#include "service/webhooks/dispatch.hpp"
#include "store/outbox.hpp"

#include <memory>
#include <string>
#include <vector>

namespace muster::test {

struct WebhookFixture : Fixture {
    WebhookFixture() {
        acme = organization();
        installation = install(acme);
    }

    EndpointId endpoint(OrgId org, InstallationId of, const std::string& url,
                        std::string_view types = "member.created webhook_endpoint.disabled") {
        const auto id = EndpointId::create();
        const Timestamp now = Timestamp::now();
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, 'active', ?, ?, ?)",
            org, id, of, url, types,
            context.keys.seal(secret.reveal(), rules::endpoint_seal_name(id)), now, now);
        return id;
    }
    EndpointId endpoint(const std::string& url) { return endpoint(acme, installation, url); }

    // Due now. Written as service/outbox.hpp does it.
    std::vector<DeliveryId> queue(OrgId org, EndpointId to, int count = 1) {
        std::vector<store::NewWebhookEvent> events;
        std::vector<store::NewDelivery> deliveries;
        std::vector<DeliveryId> ids;
        const Timestamp now = Timestamp::now();
        for (int i = 0; i < count; ++i) {
            const auto event = WebhookEventId::create();
            events.push_back(
                {event,
                 "member.created",
                 rules::webhook_body("member.created", now, R"({"n":)" + std::to_string(i) + "}"),
                 {}});
            ids.push_back(DeliveryId::create());
            deliveries.push_back({ids.back(), to, event, now});
        }
        as(org, [&](service::OrgTransaction& transaction) {
            db::OrgStore store(transaction.tx, org);
            constexpr std::size_t kAtOnce = 1000;
            for (std::size_t at = 0; at < ids.size(); at += kAtOnce) {
                const std::size_t some = std::min(kAtOnce, ids.size() - at);
                store::insert_webhook_events(store, std::span(events).subspan(at, some), now);
                store::insert_deliveries(store, std::span(deliveries).subspan(at, some), now);
            }
        });
        return ids;
    }
    std::vector<DeliveryId> queue(EndpointId to, int count = 1) { return queue(acme, to, count); }

    void seat(OrgId org, const std::string& email, std::string_view role);

    void set(EndpointId id, const std::string& column, const std::string& value) {
        client.run("UPDATE webhook_endpoints SET " + column + " = " + value + " WHERE id = x'" +
                   to_hex(id.bytes()) + "'");
    }
    std::string cell(EndpointId id, const std::string& column) {
        return client.value("SELECT " + column + " FROM webhook_endpoints WHERE id = ?", id);
    }
    std::string status(DeliveryId id) {
        return client.value("SELECT status FROM webhook_deliveries WHERE id = ?", id);
    }
    std::int64_t deliveries(EndpointId id, std::string_view status) {
        return client.number(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND status = ?", id,
            status);
    }
    std::int64_t count(const std::string& table) {
        return client.number("SELECT COUNT(*) FROM " + table);
    }
    // Makes the next attempt due, or ends the lease.
    void make_due() {
        client.run("UPDATE webhook_deliveries SET due_at = 1 WHERE status = 'pending'");
    }

    static inline const Secret secret = rules::create_endpoint_secret();
    OrgId acme;
    InstallationId installation;
};

// A runner with its own context, which may post to the loopback.
struct WebhookRunner : DatabaseContext {
    explicit WebhookRunner(int connections = 32, int endpoint_connections = 4,
                           const db::ConnectionSettings& with = connection_settings())
        : DatabaseContext(with), own(settings()) {
        own.webhooks.loopback = true;
        own.webhooks.connections = connections;
        own.webhooks.endpoint_connections = endpoint_connections;
        dispatch = std::make_unique<service::WebhookDispatch>(mine);
    }
    // Runs steps until the condition holds; false after ten seconds.
    [[nodiscard]] bool work_until(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            dispatch->step();
        }
        return true;
    }

    Settings own;
    service::Context mine{database, own, context.keys};
    std::unique_ptr<service::WebhookDispatch> dispatch;
};

}  // namespace muster::test
