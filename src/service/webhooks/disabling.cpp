#include "service/webhooks/disabling.hpp"

#include "base/crypto.hpp"
#include "base/record.hpp"
#include "db/transaction.hpp"
#include "rules/access/guess_budget.hpp"
#include "rules/access/roles.hpp"
#include "rules/event_types.hpp"
#include "service/audit.hpp"
#include "service/mail.hpp"
#include "service/outbox.hpp"
#include "store/access/admins.hpp"
#include "store/access/sign_in.hpp"
#include "store/webhooks/queue.hpp"

#include <string>
#include <vector>

namespace muster::service {
namespace {

constexpr int kCanceledAtOnce = 1000;
constexpr Milliseconds kMailLife = std::chrono::days(3);
// Of an organization: an endpoint that is set going again and again must not fill the outbox, where
// everybody's sign-in codes wait too.
constexpr rules::Budget kNoticesADay{20, std::chrono::days(1)};

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
        text += "because it answered 410 Gone, which says that it wants no more events.\n";
    } else {
        text += "because it did not take a single event in five days.\n";
    }
    if (endpoint.failing_since) {
        text += "It fails since " + endpoint.failing_since->text() + ".\n";
    }
    return text +
           "\nWhat was waiting for it was canceled, and it gets no new events. To bring it back,\n"
           "see to the receiver, set the endpoint's status to \"active\" again\n"
           "(PATCH /v1/installations/{id}/webhook-endpoints/{endpointId}), and have what failed\n"
           "or was canceled queued again (POST .../recover).\n";
}

// The owners; where there is none, the admins.
std::vector<std::string> addressees(db::OrgStore& org) {
    std::vector<std::string> owners;
    std::vector<std::string> admins;
    for (const rules::SeatHolder& holder : store::list_seat_holders(org)) {
        if (holder.role == rules::Role::Owner) owners.push_back(holder.email);
        if (holder.role == rules::Role::Admin) admins.push_back(holder.email);
    }
    return owners.empty() ? admins : owners;
}

bool may_mail(OrgTransaction& transaction) {
    constexpr std::string_view kKind = "webhook_notice";
    const std::string subject = sha256(transaction.org().bytes());
    rules::SpentTimes told(store::lock_guess_budget(transaction.tx, kKind, subject));
    if (told.exhausted(kNoticesADay, transaction.now)) return false;
    told.spend(transaction.now, kNoticesADay.within);
    store::write_guess_budget(transaction.tx, kKind, subject, told.packed(),
                              transaction.now + kNoticesADay.within);
    return true;
}

void tell(OrgTransaction& transaction, const KeyRing& keys, const DisabledEndpoint& endpoint) {
    db::OrgStore org(transaction.tx, transaction.org());
    emit(transaction, {rules::event_type::kEndpointDisabled, std::nullopt,
                       [&] { return to_json(kDisabledEndpoint, endpoint); }});
    const auto addresses = may_mail(transaction) ? addressees(org) : std::vector<std::string>();
    for (const std::string& address : addresses) {
        queue_mail(transaction.tx, keys,
                   {address, "A webhook endpoint was disabled", mail_text(endpoint)},
                   transaction.now, transaction.now + kMailLife);
    }
    audit_system(transaction, "webhook_endpoint.disabled", endpoint.id.text(),
                 {{"reason", endpoint.reason}});
}

}  // namespace

bool disable_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys, EndpointId endpoint,
                              std::string_view reason, std::optional<Timestamp> failing_before) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto target = store::find_target(org, endpoint);
    if (!target) return false;
    if (!store::disable_endpoint(org, endpoint, reason, failing_before, transaction.now))
        return false;
    cancel_deliveries(transaction, endpoint);
    store::set_error_without_endpoint(org, target->installation, transaction.now);
    tell(transaction, keys,
         {endpoint, target->installation, transaction.org(), std::string(url_to_show(target->url)),
          std::string(reason), target->failing_since});
    return true;
}

bool cancel_deliveries(OrgTransaction& transaction, EndpointId endpoint) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto target = store::find_target(org, endpoint);
    if (!target || !target->is_disabled) return false;  // an admin has brought it back
    return store::cancel_pending(org, endpoint, transaction.now, kCanceledAtOnce) ==
           kCanceledAtOnce;
}

std::string_view url_to_show(std::string_view url) {
    return url.substr(0, url.find_first_of("?#"));
}

}  // namespace muster::service
