#include "service/webhooks/endpoints.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "net/webhooks/url.hpp"
#include "rules/event_types.hpp"
#include "rules/seal_names.hpp"
#include "rules/webhook_wire.hpp"
#include "service/access/notices.hpp"
#include "service/audit.hpp"
#include "service/modules/installations.hpp"
#include "service/quotas.hpp"
#include "service/webhooks/disabling.hpp"
#include "store/modules/installations.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoint_results.hpp"
#include "store/webhooks/endpoints.hpp"
#include "store/webhooks/queue.hpp"
#include "store/webhooks/subscriptions.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace muster::service {
namespace {

using rules::EndpointStatus;

// A deletion of an endpoint deletes this many of its deliveries at once, with their attempts.
constexpr int kDeliveriesAtOnce = 200;

void validate_event_types(const std::vector<std::string>& types, Faults& faults) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string path = "subscribed_event_types[" + std::to_string(i) + "]";
        if (!rules::can_subscribe_to(types[i])) {
            faults.add(path, FieldCode::InvalidChoice,
                       {.allowed = {rules::kCanonicalEventTypes.begin(),
                                    rules::kCanonicalEventTypes.end()}});
        } else if (!seen.insert(types[i]).second) {
            faults.add(path, FieldCode::Duplicate);
        }
    }
}

void validate_url(const Context& context, const std::string& url, bool may_look_up,
                  Faults& faults) {
    const net::UrlPolicy policy{context.settings.webhooks.loopback, context.settings.webhooks.dns};
    const auto look_up = may_look_up ? net::LookUp::Yes : net::LookUp::No;
    if (auto reason = net::fault_in_webhook_url(url, policy, look_up)) {
        faults.add("url", FieldCode::InvalidUrl, std::move(*reason));
    }
}

rules::WebhookEndpoint locked(db::OrgStore& org, const EndpointRef& ref,
                              const VersionCheck& check) {
    auto endpoint = store::lock_webhook_endpoint(org, ref.installation, ref.endpoint);
    if (!endpoint) throw Error(ErrorCode::NotFound);
    check_version(check, endpoint->updated_at);
    store::read_endpoint_results(org, {&*endpoint, 1}, Timestamp::now());
    return std::move(*endpoint);
}

// In the order in which the database stores them.
std::vector<std::string> in_order(std::vector<std::string> types) {
    std::sort(types.begin(), types.end());
    return types;
}

void set_status(rules::WebhookEndpoint& endpoint, EndpointStatus status) {
    if (status != EndpointStatus::Disabled) endpoint.disabled_reason.reset();
    if (status == EndpointStatus::Active) endpoint.failing_since.reset();
    endpoint.status = status;
}

bool is_same(const rules::WebhookEndpoint& left, const rules::WebhookEndpoint& right) {
    return left.url == right.url && left.description == right.description &&
           left.subscribed_event_types == right.subscribed_event_types &&
           left.status == right.status && left.disabled_reason == right.disabled_reason &&
           left.failing_since == right.failing_since;
}

// The URL without its query, which may hold a secret, and shortened.
std::string logged_url(std::string_view url) {
    constexpr std::size_t kLongest = 255;
    std::string shown(url_without_query(url));
    if (shown.size() <= kLongest) return shown;
    shown.resize(kLongest);
    while (!is_utf8(shown)) shown.pop_back();
    return shown + "...";
}

void audit_change(OrgTransaction& transaction, const rules::WebhookEndpoint& before,
                  const rules::WebhookEndpoint& endpoint) {
    const std::string action = "webhook_endpoint.changed";
    const std::string status(text_of(endpoint.status));
    if (endpoint.url == before.url) {
        audit(transaction, action, endpoint.id.text(), {{"status", status}});
        return;
    }
    audit(transaction, action, endpoint.id.text(),
          {{"status", status},
           {"url", logged_url(endpoint.url)},
           {"previous_url", logged_url(before.url)}});
}

// Stores a changed endpoint.
void write_change(OrgTransaction& transaction, const rules::WebhookEndpoint& endpoint) {
    db::OrgStore org(transaction.tx, transaction.org());
    store::write_webhook_endpoint(org, endpoint);
    store::write_subscriptions(org, endpoint.id, endpoint.subscribed_event_types,
                               endpoint.updated_at);
    // The runner cancels what remains.
    if (endpoint.status == EndpointStatus::Disabled) cancel_deliveries(transaction, endpoint.id);
}

void notify_of_endpoint(OrgTransaction& transaction, const KeyRing& keys, std::string_view what,
                        const rules::WebhookEndpoint& endpoint) {
    notify_of_access(transaction, keys,
                     {.what = what,
                      .name = std::string(url_without_query(endpoint.url)),
                      .id = endpoint.id.text(),
                      .remedy = "delete the endpoint under Webhooks"});
}

}  // namespace

void check_endpoint_fields(const Context& context, const std::optional<std::string>& url,
                           const std::optional<std::vector<std::string>>& event_types,
                           bool may_look_up) {
    Faults faults;
    if (event_types) validate_event_types(*event_types, faults);
    if (url) validate_url(context, *url, may_look_up, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

IssuedEndpoint create_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys,
                                       InstallationId installation,
                                       const NewWebhookEndpoint& fields) {
    const auto owner = lock_installation(transaction, installation);
    reject_disabled(owner);
    db::OrgStore org(transaction.tx, transaction.org());
    if (store::count_webhook_endpoints(org, installation) >= kMostEndpoints) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an installation has at most " + std::to_string(kMostEndpoints) +
                                  " endpoints; delete one first");
    }
    lock_counts(org, transaction.now);
    if (store::count_webhook_endpoints(org) >= kMostEndpointsInAll) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an organization has at most " + std::to_string(kMostEndpointsInAll) +
                                  " endpoints; delete one first");
    }
    IssuedEndpoint issued{{}, rules::create_endpoint_secret()};
    rules::WebhookEndpoint& endpoint = issued.endpoint;
    endpoint.id = EndpointId::create();
    endpoint.module_installation_id = installation;
    endpoint.organization_id = transaction.org();
    endpoint.url = fields.url;
    endpoint.description = fields.description;
    endpoint.subscribed_event_types = in_order(fields.event_types);
    endpoint.created_at = endpoint.updated_at = transaction.now;
    store::insert_webhook_endpoint(
        org, endpoint, keys.seal(issued.secret.reveal(), rules::endpoint_seal_name(endpoint.id)),
        transaction.actor.admin);
    store::write_subscriptions(org, endpoint.id, endpoint.subscribed_event_types,
                               endpoint.updated_at);
    audit(transaction, "webhook_endpoint.created", endpoint.id.text(),
          {{"installation_id", installation.text()}});
    end_installation_error(transaction, owner);
    notify_of_endpoint(transaction, keys, "webhook endpoint", endpoint);
    return issued;
}

std::optional<rules::WebhookEndpoint> find_webhook_endpoint(Context& context, OrgId organization,
                                                            const EndpointRef& ref) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto endpoint = store::find_webhook_endpoint(org, ref.installation, ref.endpoint);
        if (endpoint) store::read_endpoint_results(org, {&*endpoint, 1}, Timestamp::now());
        return endpoint;
    });
}

std::vector<rules::WebhookEndpoint> list_webhook_endpoints(Context& context, OrgId organization,
                                                           InstallationId installation,
                                                           std::optional<EndpointId> after,
                                                           int limit) {
    if (!find_installation(context, organization, installation)) throw Error(ErrorCode::NotFound);
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        auto endpoints =
            store::page_webhook_endpoints(org, installation, after.value_or(EndpointId()), limit);
        store::read_endpoint_results(org, endpoints, Timestamp::now());
        return endpoints;
    });
}

rules::WebhookEndpoint change_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys,
                                               const EndpointRef& ref, const EndpointChange& change,
                                               const VersionCheck& check,
                                               const UrlCheck& check_url) {
    const auto owner = lock_installation(transaction, ref.installation);
    db::OrgStore org(transaction.tx, transaction.org());
    const rules::WebhookEndpoint before = locked(org, ref, check);
    rules::WebhookEndpoint endpoint = before;
    if (change.url) endpoint.url = *change.url;
    const bool has_new_url = endpoint.url != before.url;
    if (has_new_url && check_url) check_url();
    endpoint.description = change.description.value_or(endpoint.description);
    if (change.event_types) endpoint.subscribed_event_types = in_order(*change.event_types);
    if (change.status) set_status(endpoint, *change.status);
    const bool is_changed = !is_same(before, endpoint);
    if (is_changed) {
        endpoint.updated_at = next_version(before.updated_at, transaction.now);
        write_change(transaction, endpoint);
    }
    // After the endpoint is written, so that it gets the event.
    const bool has_ended_error =
        change.status == EndpointStatus::Active && end_installation_error(transaction, owner);
    if (is_changed || has_ended_error) audit_change(transaction, before, endpoint);
    if (has_new_url) {
        notify_of_endpoint(transaction, keys, "address of a webhook endpoint", endpoint);
    }
    return endpoint;
}

void delete_webhook_endpoint(OrgTransaction& transaction, const EndpointRef& ref,
                             const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto endpoint = locked(org, ref, check);
    // The purge deletes what remains.
    store::remove_webhook_endpoint(org, endpoint.id, transaction.now);
    store::delete_removed_endpoint(org, endpoint.id, kDeliveriesAtOnce);
    audit(transaction, "webhook_endpoint.deleted", endpoint.id.text(),
          {{"installation_id", ref.installation.text()}});
}

IssuedEndpoint rotate_endpoint_secret(OrgTransaction& transaction, const KeyRing& keys,
                                      const EndpointRef& ref, const VersionCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    IssuedEndpoint issued{locked(org, ref, check), rules::create_endpoint_secret()};
    const std::string name = rules::endpoint_seal_name(ref.endpoint);
    const Timestamp version = next_version(issued.endpoint.updated_at, transaction.now);
    const bool is_rotated =
        store::rotate_webhook_secret(org, ref.endpoint, keys.seal(issued.secret.reveal(), name),
                                     transaction.now + rules::kSecretOverlap, version);
    if (!is_rotated) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason",
                    "the secret was rotated twice within 24 hours, and all three secrets still "
                    "sign; rotate it again when the first rotation is a day old");
    }
    issued.endpoint.updated_at = version;
    audit(transaction, "webhook_endpoint.secret_rotated", ref.endpoint.text());
    return issued;
}

std::vector<EndpointHealth> list_endpoint_health(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::list_endpoint_health(org);
    });
}

}  // namespace muster::service
