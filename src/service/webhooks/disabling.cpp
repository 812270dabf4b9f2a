#include "service/webhooks/disabling.hpp"

#include "base/record.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "service/access/notices.hpp"
#include "service/audit.hpp"
#include "service/outbox.hpp"
#include "store/modules/installations.hpp"
#include "store/webhooks/queue.hpp"

#include <string>

namespace muster::service {
namespace {

struct DisabledEndpoint {
    EndpointId id;
    InstallationId installation;
    OrgId organization;
    std::string url;
    std::string reason;
    std::optional<Timestamp> failing_since;
};

constexpr auto kDisabledEndpoint = record<DisabledEndpoint>(
    "DisabledWebhookEndpoint", field<&DisabledEndpoint::id>("endpoint_id", "Id of the endpoint."),
    field<&DisabledEndpoint::installation>("module_installation_id",
                                           "Id of the installation that the endpoint belongs to."),
    field<&DisabledEndpoint::organization>("organization_id",
                                           "Id of the organization that the record belongs to."),
    field<&DisabledEndpoint::url>("url", "Address of the endpoint, without its query."),
    field<&DisabledEndpoint::reason>("reason",
                                     "gone: it answered 410; failing: it failed for five days."),
    field<&DisabledEndpoint::failing_since>("failing_since",
                                            "Time of the first failure since the last success."));

std::string mail_text(const DisabledEndpoint& endpoint) {
    std::string text = "Muster has disabled the webhook endpoint\n\n    " + endpoint.url +
                       "\n    (id " + endpoint.id.text() + ", installation " +
                       endpoint.installation.text() + ")\n\n";
    if (endpoint.reason == "gone") {
        text += "because it answered 410 Gone, which means that it accepts no more events.\n";
    } else {
        text += "because it did not accept a single event in five days.\n";
    }
    if (endpoint.failing_since) {
        text += "It has been failing since " + endpoint.failing_since->text() + ".\n";
    }
    return text +
           "\nIts pending deliveries were canceled, and it gets no new events. To use it again,\n"
           "fix the receiver, set the endpoint's status to \"active\"\n"
           "(PATCH /v1/installations/{id}/webhook-endpoints/{endpointId}), and queue the failed\n"
           "and canceled deliveries again (POST .../recover).\n";
}

void notify(OrgTransaction& transaction, const KeyRing& keys, const DisabledEndpoint& endpoint) {
    emit(transaction, {rules::event_type::kEndpointDisabled, std::nullopt,
                       [&] { return to_json(kDisabledEndpoint, endpoint); }});
    notify_owners(transaction, keys,
                  {.kind = NoticeKind::Webhook,
                   .subject = "A webhook endpoint was disabled",
                   .text = mail_text(endpoint)});
    audit_system(transaction, "webhook_endpoint.disabled", endpoint.id.text(),
                 {{"reason", endpoint.reason}});
}

}  // namespace

bool disable_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys, EndpointId endpoint,
                              std::string_view reason, std::optional<Timestamp> failing_before) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto target = store::find_target(org, endpoint);
    if (!target) return false;
    // First, so that of two endpoints that are disabled at the same time the second sees the first.
    if (!store::lock_installation(org, target->installation)) return false;
    if (!store::disable_endpoint(org, endpoint, reason, failing_before, transaction.now))
        return false;
    cancel_deliveries(transaction, endpoint);
    store::set_error_without_endpoint(org, target->installation, transaction.now);
    notify(
        transaction, keys,
        {endpoint, target->installation, transaction.org(),
         std::string(url_without_query(target->url)), std::string(reason), target->failing_since});
    return true;
}

bool cancel_deliveries(OrgTransaction& transaction, EndpointId endpoint) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto target = store::find_target(org, endpoint);
    if (!target || !target->is_disabled) return false;  // an admin has enabled it again
    return store::cancel_pending(org, endpoint, transaction.now, kCanceledAtOnce) ==
           kCanceledAtOnce;
}

std::string_view url_without_query(std::string_view url) {
    return url.substr(0, url.find_first_of("?#"));
}

}  // namespace muster::service
