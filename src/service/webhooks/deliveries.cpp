#include "service/webhooks/deliveries.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/json.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "rules/webhooks/backlog.hpp"
#include "service/audit.hpp"
#include "service/modules/installations.hpp"
#include "service/outbox.hpp"
#include "service/page_bytes.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoints.hpp"
#include "store/webhooks/fan_out.hpp"

#include <algorithm>
#include <array>
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
    reject_disabled(installation);
    if (endpoint->status != rules::EndpointStatus::Active) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the endpoint is " + std::string(text_of(endpoint->status)) +
                                  "; set it active first");
    }
    return std::move(*endpoint);
}

// How many further deliveries may wait for the endpoint. Reads up to the whole backlog, so ask
// before rows are locked.
std::int64_t room_for(db::OrgStore& org, EndpointId endpoint, std::int64_t backlog) {
    const auto pending = store::count_pending(org);
    rules::WaitingDeliveries waiting;
    for (const auto& [id, count] : pending) waiting.of_organization += count;
    const auto own = pending.find(endpoint);
    const bool is_new = own == pending.end();
    if (!is_new) waiting.of_endpoint = own->second;
    waiting.endpoints = static_cast<std::int64_t>(pending.size()) + (is_new ? 1 : 0);
    return rules::backlog_room(waiting, backlog);
}

[[noreturn]] void reject_full_backlog(std::int64_t backlog) {
    throw Error(ErrorCode::InvalidState)
        .detail(
            "reason",
            "too many deliveries of the organization wait, and this endpoint has its share; "
            "wait until some have ended, or activate, disable or delete the endpoints for which "
            "most of them wait")
        .detail("limit", Json::Int64(backlog));
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

constexpr std::array kRecoverable = {rules::DeliveryStatus::Failed,
                                     rules::DeliveryStatus::Canceled};

void check_recovery(const Recovery& recovery, Timestamp now) {
    Faults faults;
    if (recovery.since > now) faults.add("since", FieldCode::OutOfRange, "is in the future");
    if (recovery.until && *recovery.until <= recovery.since) {
        faults.add("until", FieldCode::OutOfRange, "is not after since");
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

RecoverableCount count_recoverable(db::OrgStore& org, EndpointId endpoint,
                                   const store::TimeSpan& span) {
    std::int64_t count = 0;
    for (const auto status : kRecoverable) {
        count +=
            store::count_recoverable(org, endpoint, status, span, kMostRecoverable + 1 - count);
    }
    return {std::min(count, kMostRecoverable), count <= kMostRecoverable};
}

Recovered recover(OrgTransaction& transaction, const EndpointRef& ref, const Recovery& recovery,
                  std::int64_t backlog) {
    check_recovery(recovery, transaction.now);
    db::OrgStore org(transaction.tx, transaction.org());
    const bool has_room = !recovery.dry_run && room_for(org, ref.endpoint, backlog) > 0;
    locked_active(transaction, ref);
    const store::TimeSpan span{recovery.since, recovery.until};
    Recovered recovered;
    if (recovery.dry_run) {
        recovered.matching = count_recoverable(org, ref.endpoint, span);
        return recovered;
    }
    // Counted again: another recovery may have queued thousands since.
    const std::int64_t most =
        has_room ? std::min(kMostRecovered, room_for(org, ref.endpoint, backlog)) : 0;
    for (const auto status : kRecoverable) {
        recovered.queued += store::recover_deliveries(org, ref.endpoint, status, span,
                                                      transaction.now, most - recovered.queued);
    }
    recovered.has_more =
        recovered.queued == most &&
        std::ranges::any_of(kRecoverable, [&](rules::DeliveryStatus status) {
            return store::count_recoverable(org, ref.endpoint, status, span, 1) > 0;
        });
    if (recovered.has_more && most == 0) reject_full_backlog(backlog);
    return recovered;
}

// The page of the first `limit` deliveries that match, of a query for `requested` entries.
DeliveryPage page_of_entries(std::vector<store::DeliveryEntry> entries, int requested, int limit) {
    DeliveryPage page;
    bool has_more = static_cast<int>(entries.size()) == requested;
    std::optional<DeliveryId> last;  // the last entry examined
    for (store::DeliveryEntry& entry : entries) {
        if (entry.delivery && static_cast<int>(page.deliveries.size()) == limit) {
            has_more = true;
            break;
        }
        if (entry.delivery) page.deliveries.push_back(std::move(*entry.delivery));
        last = entry.id;
    }
    if (has_more && last) page.next = std::string(last->bytes());
    return page;
}

std::size_t excerpt_bytes(const WebhookDelivery& delivery) {
    std::size_t bytes = 0;
    for (const rules::WebhookAttempt& attempt : delivery.attempts) {
        if (attempt.response_excerpt) bytes += attempt.response_excerpt->size();
    }
    return bytes;
}

void limit_bytes(DeliveryPage& page) {
    if (!end_page_early(page.deliveries, excerpt_bytes)) return;
    page.next = std::string(page.deliveries.back().id.bytes());
}

// Whether the index finds only deliveries that match.
bool is_exact(const store::DeliveryFilter& filter) {
    const bool is_pending = filter.status == rules::DeliveryStatus::Pending;
    return !filter.event_type && !filter.attempt_class && !filter.span.since &&
           !filter.span.until && !(is_pending && filter.endpoint);
}

}  // namespace

DeliveryPage list_deliveries(Context& context, OrgId organization,
                             const std::optional<EndpointRef>& ref,
                             std::optional<DeliveryId> before, const DeliveryFilter& filter,
                             int limit) {
    store::DeliveryFilter conditions{std::nullopt,
                                     filter.status,
                                     filter.event_type,
                                     filter.attempt_class,
                                     {filter.since, filter.until}};
    if (ref) conditions.endpoint = ref->endpoint;
    const int requested = is_exact(conditions) ? limit + 1 : kMostExamined;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (ref && !store::find_webhook_endpoint(org, ref->installation, ref->endpoint)) {
            throw Error(ErrorCode::NotFound);
        }
        DeliveryPage page = page_of_entries(
            store::page_deliveries(org, conditions, before, requested), requested, limit);
        store::read_attempts(org, page.deliveries);
        limit_bytes(page);
        return page;
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

WebhookDelivery test_endpoint(OrgTransaction& transaction, const EndpointRef& ref,
                              std::int64_t backlog) {
    db::OrgStore org(transaction.tx, transaction.org());
    const bool has_room = room_for(org, ref.endpoint, backlog) > 0;
    const auto endpoint = locked_active(transaction, ref);
    if (!has_room) reject_full_backlog(backlog);
    const auto id = emit_to(
        transaction, endpoint.id,
        {rules::event_type::kEndpointTest, std::nullopt, [&] { return test_data(endpoint); }});
    audit(transaction, "webhook_endpoint.tested", endpoint.id.text());
    auto delivery = read_delivery(org, endpoint.id, id);
    if (!delivery) throw std::runtime_error("a delivery that was just inserted does not exist");
    return std::move(*delivery);
}

WebhookDelivery redeliver(OrgTransaction& transaction, const EndpointRef& ref, DeliveryId id,
                          std::int64_t backlog) {
    db::OrgStore org(transaction.tx, transaction.org());
    const bool has_room = room_for(org, ref.endpoint, backlog) > 0;
    locked_active(transaction, ref);
    const auto before = store::find_delivery(org, ref.endpoint, id);
    if (!before) throw Error(ErrorCode::NotFound);
    const bool waits = before->status == rules::DeliveryStatus::Pending;
    if (!waits && !has_room) reject_full_backlog(backlog);
    const bool is_queued = store::requeue_delivery(org, ref.endpoint, id, transaction.now);
    auto delivery = read_delivery(org, ref.endpoint, id);
    if (!delivery) throw Error(ErrorCode::NotFound);
    if (is_queued) {
        // Many calls within the first minute of a delivery would add attempts without a bound.
        store::delete_old_attempts(org, {&id, 1});
        audit(transaction, "webhook_delivery.redelivered", id.text(),
              {{"endpoint_id", ref.endpoint.text()}});
    }
    return std::move(*delivery);
}

Recovered recover_deliveries(OrgTransaction& transaction, const EndpointRef& ref,
                             const Recovery& recovery, std::int64_t backlog) {
    Recovered recovered = recover(transaction, ref, recovery, backlog);
    if (recovery.dry_run) return recovered;
    audit(transaction, "webhook_endpoint.recovered", ref.endpoint.text(),
          {{"since", recovery.since.text()},
           {"until", recovery.until.value_or(transaction.now).text()},
           {"queued", std::to_string(recovered.queued)}});
    return recovered;
}

Recovered recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                             Timestamp since) {
    return context.database.transaction([&](db::Tx& tx) {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        db::OrgStore org(tx, organization);
        const auto installation = store::find_installation_of_endpoint(org, endpoint);
        if (!installation) throw Error(ErrorCode::NotFound);
        const Recovery recovery{since, std::nullopt};
        Recovered recovered = recover(transaction, {*installation, endpoint}, recovery,
                                      context.settings.webhooks.backlog);
        audit_operator(tx, organization, "webhook_endpoint.recovered", endpoint.text(),
                       {{"since", since.text()}, {"queued", std::to_string(recovered.queued)}},
                       transaction.now);
        return recovered;
    });
}

}  // namespace muster::service
