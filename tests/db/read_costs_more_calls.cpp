// The measured calls on modules, webhooks, ads, articles, connections and expired rows. Row `n` of
// a table has id_of(n).
#include "db/read_costs.hpp"
#include "store/ads/campaigns.hpp"
#include "store/ads/creatives.hpp"
#include "store/ads/figures.hpp"
#include "store/ads/serving.hpp"
#include "store/ads/slots.hpp"
#include "store/connections/connections.hpp"
#include "store/connections/leases.hpp"
#include "store/content/articles.hpp"
#include "store/idempotency.hpp"
#include "store/imports/jobs.hpp"
#include "store/modules/credentials.hpp"
#include "store/modules/installations.hpp"
#include "store/modules/modules.hpp"
#include "store/operations/key_rotation.hpp"
#include "store/operations/purge.hpp"
#include "store/organization/usage.hpp"
#include "store/outbox.hpp"
#include "store/pages/publishable_keys.hpp"
#include "store/privacy/erasure.hpp"
#include "store/quotas.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoint_results.hpp"
#include "store/webhooks/endpoints.hpp"
#include "store/webhooks/fan_out.hpp"
#include "store/webhooks/queue.hpp"
#include "store/webhooks/subscriptions.hpp"

#include <string>
#include <vector>

namespace muster::test {

using db::OrgStore;
using db::Tx;

namespace {

// Times of the filled rows are 1, 2, …
const Timestamp kMiddle(60);
const Timestamp kEnd(1'000'000);

struct Calls {
    void add(std::vector<std::string> names, std::int64_t most, const auto& call) {
        all.push_back(measured(std::move(names), most, call));
    }
    // Deletes or changes at most kPage expired rows.
    void add_purge(const char* name, std::int64_t (*purge)(Tx&, Timestamp, int)) {
        add({name}, 3 * kPage + kEnds, [=](Tx& tx) { return purge(tx, kMiddle, kPage); });
    }
    std::vector<MeasuredCall> all;
};

// The rows of the changed kind, so that a call without a result counts too.
constexpr int kDone = 1;

}  // namespace

std::vector<MeasuredCall> module_calls() {
    Calls calls;
    calls.add({"modules.page"}, kOnePage,
              [](OrgStore& org) { return store::page_modules(org, {}, kPage); });
    // Of publishable keys every second is revoked. The counted rows are read again from the table
    // of the subquery.
    const auto add_count = [&](const char* name, auto* count) {
        calls.add({name}, 3 * kPage + kEnds, [=](OrgStore& org) { return count(org, kPage); });
    };
    add_count("usage.modules", store::count_used_modules);
    add_count("usage.publishable_keys", store::count_used_publishable_keys);
    add_count("usage.webhook_endpoints", store::count_used_webhook_endpoints);
    add_count("usage.attributes", store::count_used_attributes);
    add_count("usage.ad_slots", store::count_used_ad_slots);
    add_count("usage.ad_campaigns", store::count_used_ad_campaigns);
    add_count("usage.connections", store::count_used_connections);
    add_count("usage.waiting_deliveries", store::count_waiting_deliveries);
    add_count("articles.count", store::count_articles);
    calls.add({"modules.count"}, 200 + kEnds,
              [](OrgStore& org) { return store::count_modules(org); });
    // A module has 200 versions, and an installation 200 credentials.
    const auto module = id_of<ModuleId>(7);
    const auto installation = id_of<InstallationId>(7);
    calls.add({"module_versions.page"}, kOnePage,
              [=](OrgStore& org) { return store::page_versions(org, module, {}, kPage); });
    calls.add({"module_versions.count"}, 200 + kEnds,
              [=](OrgStore& org) { return store::count_versions(org, module); });
    calls.add({"installations.page"}, kOnePage,
              [](OrgStore& org) { return store::page_installations(org, {}, kPage); });
    calls.add({"module_credentials.page"}, 2 * kPage + kEnds, [=](OrgStore& org) {
        return store::page_module_credentials(org, installation, {}, Timestamp(1), kPage);
    });
    calls.add({"module_credentials.count"}, 200 + kEnds, [](OrgStore& org) {
        return store::count_module_credentials(org, id_of<InstallationId>(9));
    });
    // Each row has the installation and the organization.
    calls.add({"module_credentials.find_by_secret"}, 3 * kAsked + kEnds,
              [](Tx& tx) { return store::find_module_credentials(tx, some_hashes()); });
    // Every second key is revoked.
    calls.add({"publishable_keys.page"}, 2 * kPage + kEnds, [](OrgStore& org) {
        return store::page_publishable_keys(org, rules::PublishableKeyKind::Tracking, {}, kEnd,
                                            kPage);
    });
    calls.add({"publishable_keys.count"}, 2000 + kEnds,
              [](OrgStore& org) { return store::count_publishable_keys(org); });
    calls.add({"publishable_keys.find_by_token"}, 2 * kAsked + kEnds,
              [](Tx& tx) { return store::find_publishable_keys(tx, some_texts("ek_live_")); });
    for (const store::SealedTable& table : store::sealed_tables()) {
        calls.add({"secrets.page"}, 3 * kPage + kEnds, [&table](Tx& tx) {
            const std::string first(2 * Uuid::kBytes, '\0');
            return table.page(tx, first, kPage).size();
        });
        calls.add({"secrets.sample"}, 3 * kPage + kEnds,
                  [&table](Tx& tx) { return table.sample(tx, kPage).size(); });
    }
    return calls.all;
}

std::vector<MeasuredCall> webhook_calls() {
    Calls calls;
    // An organization has 200 endpoints; those with deliveries have 1000, a fourth of them due.
    const auto endpoint = id_of<EndpointId>(7);
    const auto installation = id_of<InstallationId>(1);
    const std::vector<EndpointId> endpoints = [] {
        auto ids = some_ids<EndpointId>();
        ids.resize(20);
        return ids;
    }();
    const auto deliveries = some_ids<DeliveryId>();
    const Uuid runner = id_of(1);
    calls.add({"webhook_outbox.has_subscription", "webhook_outbox.has_listener"}, 2 * kEnds,
              [](OrgStore& org) { return store::has_listener(org, "member.created"); });
    calls.add({"webhook_subscriptions.find_subscribers",
               "webhook_subscriptions.find_subscribers_unindexed"},
              3 * 200 + 2 * kEnds,
              [](OrgStore& org) { return store::find_subscribers(org, "member.created"); });
    calls.add({"webhook_subscriptions.find_unindexed"}, 2 * 200 + 2 * kEnds,
              [](Tx& tx) { return store::find_unindexed(tx, kPage).size() + 1; });
    calls.add({"webhook_fan_out.next_organization"}, kEnds,
              [](Tx& tx) { return store::next_in_outbox(tx, {}); });
    calls.add({"webhook_fan_out.lock_outbox"}, kOnePage,
              [](OrgStore& org) { return store::lock_outbox(org, kPage); });
    calls.add({"webhook_fan_out.delete_outbox"}, 2 * kAsked + kEnds + 56, [](OrgStore& org) {
        store::delete_outbox(org, some_ids<WebhookEventId>());
        return kDone;
    });
    calls.add({"webhook_fan_out.count_pending"}, 5000 + kEnds,
              [](OrgStore& org) { return store::count_pending(org); });
    calls.add({"webhook_fan_out.lock_dropping", "webhook_fan_out.set_dropped"}, 3 * 32 + 2 * kEnds,
              [=](OrgStore& org) {
                  store::set_dropped(org, endpoints, kEnd, kEnd);
                  return kDone;
              });
    calls.add({"webhook_fan_out.measure_outbox"}, 60'000 + kEnds,
              [](Tx& tx) { return store::measure_outbox(tx).events; });
    calls.add({"webhook_fan_out.count_dropping"}, 2 * 200 + 2 * kEnds,
              [](Tx& tx) { return store::count_dropping(tx, kEnd) + 1; });
    calls.add({"webhook_outbox.cancel_deliveries"}, 6 * kPage + kEnds, [=](OrgStore& org) {
        store::cancel_deliveries(org, installation, kEnd, kPage);
        return kDone;
    });
    calls.add({"webhook_endpoints.count"}, 100 + kEnds,
              [=](OrgStore& org) { return store::count_webhook_endpoints(org, installation); });
    calls.add({"webhook_endpoints.count_all"}, 200 + kEnds,
              [](OrgStore& org) { return store::count_webhook_endpoints(org); });
    calls.add({"webhook_endpoints.page"}, kOnePage, [=](OrgStore& org) {
        return store::page_webhook_endpoints(org, installation, {}, kPage);
    });
    // It counts the pending and the failed deliveries of each endpoint.
    calls.add({"webhook_endpoints.list_health"}, 10'000 + 5 * 200 + kEnds,
              [](OrgStore& org) { return store::list_endpoint_health(org); });
    // An endpoint has 10 hours in this table.
    calls.add({"webhook_endpoint_hours.read"}, 128 * 15 + kEnds, [](OrgStore& org) {
        std::vector<rules::WebhookEndpoint> asked(kAsked);
        for (int i = 0; i < kAsked; ++i) asked[i].id = id_of<EndpointId>(i + 1);
        store::read_endpoint_results(org, asked, kEnd);
        return kDone;
    });
    const auto add_page = [&](const char* name, std::optional<EndpointId> of,
                              std::optional<rules::DeliveryStatus> status) {
        const store::DeliveryFilter filter{
            of, status, "member.created", rules::AttemptClass::ServerError, {}};
        // An entry of the index, the temporary table, the delivery, its event, endpoint and
        // attempt.
        calls.add({name}, 8 * kPage + kEnds, [=](OrgStore& org) {
            return store::page_deliveries(org, filter, id_of<DeliveryId>(15'000), kPage);
        });
    };
    using rules::DeliveryStatus;
    add_page("webhook_deliveries.page", {}, {});
    add_page("webhook_deliveries.page_of_status", {}, DeliveryStatus::Failed);
    add_page("webhook_deliveries.page_of_endpoint", endpoint, {});
    add_page("webhook_deliveries.page_of_endpoint_and_status", endpoint, DeliveryStatus::Failed);
    calls.add({"webhook_deliveries.count_recoverable"}, 3 * kPage + kEnds, [=](OrgStore& org) {
        return store::count_recoverable(org, endpoint, DeliveryStatus::Failed, {}, kPage);
    });
    calls.add({"webhook_deliveries.find"}, kEnds, [](OrgStore& org) {
        return store::find_delivery(org, id_of<EndpointId>(8), id_of<DeliveryId>(7));
    });
    // A delivery has two attempts. They are numbered and sorted in temporary tables.
    calls.add({"webhook_deliveries.read_attempts"}, 25 * kAsked, [=](OrgStore& org) {
        std::vector<rules::WebhookDelivery> asked(kAsked);
        for (int i = 0; i < kAsked; ++i) asked[i].id = deliveries[i];
        store::read_attempts(org, asked);
        return asked.back().attempts.size();
    });
    calls.add({"webhook_deliveries.recover"}, 3 * kPage + kEnds, [=](OrgStore& org) {
        return store::recover_deliveries(org, endpoint, DeliveryStatus::Failed, {kMiddle, {}}, kEnd,
                                         kPage);
    });
    calls.add({"webhook_queue.lock_due", "webhook_queue.claim", "webhook_queue.read_bodies"},
              8 * kPage + kEnds, [=](OrgStore& org) {
                  return store::claim_deliveries(org, endpoint, runner, kEnd, kEnd,
                                                 {kPage, 1 << 20})
                      .deliveries;
              });
    calls.add({"webhook_queue.lock_claimed"}, 3 * kAsked + kEnds, [=](OrgStore& org) {
        store::lock_claimed(org, deliveries, runner);
        return kDone;
    });
    calls.add({"webhook_queue.release"}, 3 * kAsked + kEnds, [=](OrgStore& org) {
        store::release_deliveries(org, deliveries, runner, kEnd);
        return kDone;
    });
    // As for webhook_deliveries.read_attempts. One delivery has too many attempts.
    calls.add({"webhook_deliveries.find_old_attempts", "webhook_deliveries.delete_old_attempts"},
              25 * kAsked, [=](OrgStore& org) {
                  const std::vector<store::NewAttempt> made(
                      store::kMostAttemptsShown, {deliveries[0], "200", 200, 1, "", "", kEnd});
                  store::insert_attempts(org, made);
                  return store::delete_old_attempts(org, deliveries);
              });
    calls.add({"webhook_queue.set_succeeded"}, 3 * kAsked + kEnds, [=](OrgStore& org) {
        store::set_succeeded(org, deliveries, kEnd);
        return kDone;
    });
    calls.add({"webhook_queue.cancel_pending"}, 3 * kPage + kEnds,
              [=](OrgStore& org) { return store::cancel_pending(org, endpoint, kEnd, kPage); });
    calls.add({"webhook_queue.find_target"}, kEnds,
              [=](OrgStore& org) { return store::find_target(org, endpoint); });
    calls.add({"webhook_queue.find_failing"}, 2 * 20 + kEnds,
              [=](OrgStore& org) { return store::find_failing(org, endpoints); });
    calls.add({"webhook_queue.lock_endpoints"}, 2 * 20 + kEnds,
              [=](OrgStore& org) { return store::lock_endpoints(org, endpoints); });
    calls.add({"webhook_queue.clear_failing"}, 2 * 20 + kEnds, [=](OrgStore& org) {
        store::clear_failing(org, endpoints);
        return kDone;
    });
    calls.add({"webhook_queue.set_failing"}, 2 * 20 + kEnds, [=](OrgStore& org) {
        store::set_failing(org, endpoints, kEnd);
        return kDone;
    });
    calls.add({"webhook_queue.set_installation_error"}, kEnds, [=](OrgStore& org) {
        store::set_error_without_endpoint(org, installation, kEnd);
        return kDone;
    });
    // For the endpoints of both organizations: one entry each, and a sort.
    calls.add({"webhook_queue.find_due_endpoints"}, 12 * 200 + kEnds,
              [](Tx& tx) { return store::find_due_endpoints(tx, true, kEnd, kPage); });
    // Counts at most kMostCounted deliveries.
    calls.add({"webhook_queue.find_oldest", "webhook_queue.count_pending"},
              2 * 5100 + 12 * 200 + kEnds,
              [](Tx& tx) { return store::measure_webhook_backlog(tx).pending; });
    calls.add({"erasure.count_webhook_events"}, 3 * 110 + kEnds,
              [](Tx& tx) { return store::count_webhook_events(tx, id_of<UserId>(7)); });
    calls.add({"erasure.delete_webhook_events"}, 4 * kPage + kEnds, [](OrgStore& org) {
        return store::delete_webhook_events(org, id_of<UserId>(7), kPage);
    });
    calls.add({"erasure.find_invitations"}, 2 + kEnds,
              [](Tx& tx) { return store::find_inviting_organizations(tx, "a7@x"); });
    calls.add({"erasure.find_memberships"}, kEnds,
              [](Tx& tx) { return store::find_memberships_of(tx, id_of<UserId>(7)); });
    calls.add({"erasure.delete_members", "erasure.delete_user"}, 2 * kEnds, [](Tx& tx) {
        store::delete_user(tx, id_of<UserId>(7));
        return kDone;
    });
    return calls.all;
}

std::vector<MeasuredCall> page_calls() {
    Calls calls;
    calls.add({"ad_slots.page"}, kOnePage,
              [](OrgStore& org) { return store::page_ad_slots(org, {}, kPage); });
    calls.add({"ad_slots.lock_some"}, kAsked + kEnds,
              [](OrgStore& org) { return store::lock_ad_slots(org, some_ids<SlotId>()); });
    calls.add({"ad_slots.count_for_adding"}, 2000 + kEnds,
              [](OrgStore& org) { return store::lock_and_count_ad_slots(org); });
    calls.add({"ad_slots.count_campaigns"}, 10 + kEnds,
              [](OrgStore& org) { return store::count_campaigns_in_slot(org, id_of<SlotId>(7)); });
    calls.add({"ad_campaigns.page"}, kOnePage,
              [](OrgStore& org) { return store::page_ad_campaigns(org, {}, kPage); });
    calls.add({"ad_campaigns.count_for_adding"}, 200 + kEnds,
              [](OrgStore& org) { return store::lock_and_count_ad_campaigns(org); });
    calls.add({"ad_campaigns.read_slots"}, 2 * kAsked + kEnds, [](OrgStore& org) {
        std::vector<rules::AdCampaign> campaigns;
        for (const auto& id : some_ids<CampaignId>()) campaigns.emplace_back().id = id;
        store::read_slots_of_campaigns(org, campaigns);
        return campaigns.back().slot_ids;
    });
    calls.add({"ad_campaigns.list_days"}, 100 + kEnds,
              [](OrgStore& org) { return store::list_ad_days(org, id_of<CampaignId>(7), 0); });
    // 100 of 2,000 days for each of 20 campaigns, ten creatives for each of 100.
    calls.add({"ad_figures.read_counts"}, 2 * 20 * 30 + 2 * kAsked + kEnds, [](OrgStore& org) {
        return store::read_ad_counts(org, some_ids<CampaignId>(), 1400);
    });
    calls.add({"ad_figures.read_slot_sizes", "ad_figures.read_creative_sizes"},
              2 * 3 * kAsked + 2 * 10 * kAsked + 2 * kAsked + kEnds,
              [](OrgStore& org) { return store::read_ad_sizes(org, some_ids<CampaignId>()); });
    calls.add({"ad_creatives.page"}, kOnePage,
              [](OrgStore& org) { return store::page_ad_creatives(org, {}, kPage); });
    calls.add({"ad_creatives.page_of_campaign"}, kOnePage, [](OrgStore& org) {
        return store::page_ad_creatives(org, id_of<CampaignId>(7), {}, kPage);
    });
    calls.add({"ad_creatives.count"}, 10 + kEnds,
              [](OrgStore& org) { return store::count_ad_creatives(org, id_of<CampaignId>(7)); });
    calls.add({"ad_serving.find_member"}, kEnds,
              [](OrgStore& org) { return store::find_ad_member(org, id_of<UserId>(8)); });
    calls.add({"ad_serving.find_shown"}, kEnds,
              [](OrgStore& org) { return store::find_shown_today(org, id_of<MemberId>(8), 1); });
    // Ten campaigns in the slot, with ten creatives each.
    calls.add({"ad_serving.find_campaigns", "ad_serving.find_creatives"},
              2 * 100 + 2 * 3 * 10 + 2 * kEnds,
              [](OrgStore& org) { return store::find_ad_candidates(org, "s7", kMiddle, kEnd); });
    calls.add({"ad_serving.delete_days_of_member"}, kEnds, [](OrgStore& org) {
        store::delete_ad_days_of(org, id_of<MemberId>(7));
        return kDone;
    });
    calls.add({"ad_serving.delete_days_of_members"}, 2 * kEnds, [](OrgStore& org) {
        const std::array members = {id_of<MemberId>(7), id_of<MemberId>(8)};
        store::delete_ad_days_of(org, members);
        return kDone;
    });
    calls.add({"connections.list"}, 3 * 200 + kEnds,
              [](OrgStore& org) { return store::list_connections(org); });
    calls.add({"connections.find_listed"}, 2 + kEnds, [](OrgStore& org) {
        (void)store::find_listed_connection(org, ConnectionId::create());
        return kDone;
    });
    calls.add({"connections.count_for_adding"}, 200 + kEnds,
              [](OrgStore& org) { return store::lock_and_count_connections(org); });
    calls.add({"connection_leases.first_due"}, kEnds,
              [](Tx& tx) { return store::first_connection_due(tx); });
    calls.add({"connection_leases.find_due"}, 3 * kPage + kEnds, [](Tx& tx) {
        const std::vector<std::string_view> excluded{"github"};
        return store::find_due_connections(tx, kEnd, excluded, kPage);
    });
    const store::ArticleKey first{"1000", id_of<ArticleId>(1000)};
    calls.add({"articles.page"}, kOnePage,
              [=](OrgStore& org) { return store::page_articles(org, first, kPage); });
    calls.add({"articles.page_drafts"}, kOnePage,
              [=](OrgStore& org) { return store::page_draft_articles(org, first, kPage); });
    calls.add({"articles.page_published"}, kOnePage, [=](OrgStore& org) {
        return store::page_published_articles(org, kEnd, first, kPage);
    });
    calls.add({"articles.page_scheduled"}, kOnePage, [](OrgStore& org) {
        return store::page_scheduled_articles(org, Timestamp(100), {}, kPage);
    });
    calls.add({"articles.find_next_publication"}, kEnds,
              [](OrgStore& org) { return store::find_next_publication(org, Timestamp(100)); });
    calls.add({"articles.page_of_locale"}, kOnePage, [=](OrgStore& org) {
        return store::page_articles_of_locale(org, kEnd, "en", first, kPage);
    });
    // The keys of the page, and the article of each.
    calls.add({"articles.page_of_tag"}, 5 * kPage + kEnds, [=](OrgStore& org) {
        return store::page_articles_of_tag(org, kEnd, "cup", {}, first, kPage);
    });
    calls.add({"articles.page_by_title"}, 6 * kPage + kEnds, [](OrgStore& org) {
        return store::page_articles_by_title(org, {"news", {}, kEnd, false, {}, {}}, {}, kPage);
    });
    return calls.all;
}

std::vector<MeasuredCall> purge_calls() {
    Calls calls;
    calls.add_purge("idempotency.purge", store::purge_idempotency_keys);
    calls.add_purge("purge.otp_codes", store::purge_otp_codes);
    calls.add_purge("purge.guess_budgets", store::purge_guess_budgets);
    calls.add_purge("purge.seat_invitations", store::purge_invitations);
    calls.add_purge("purge.sessions", store::purge_sessions);
    calls.add({"purge.member_jobs"}, 3 * kPage + kEnds,
              [](Tx& tx) { return store::purge_member_jobs(tx, Timestamp(2'000'000), kPage); });
    calls.add_purge("purge.mails", store::purge_mails);
    // There is no index by the time of revocation: it reads all 2000 keys.
    calls.add({"purge.api_keys"}, 2000 + kEnds,
              [](Tx& tx) { return store::purge_ended_api_keys(tx, kMiddle, kPage); });
    calls.add_purge("purge.ad_redemptions", store::purge_ad_redemptions);
    calls.add_purge("purge.module_credentials", store::purge_revoked_module_credentials);
    calls.add_purge("purge.publishable_keys", store::purge_revoked_publishable_keys);
    calls.add_purge("purge.previous_secrets", store::purge_previous_secrets);
    calls.add_purge("purge.audit_log", store::purge_audit_log);
    calls.add_purge("purge.connection_authorizations", store::purge_connection_authorizations);
    // Deletes the deliveries and attempts of the events as well.
    calls.add_purge("purge.webhook_events", store::purge_webhook_events);
    calls.add({"webhook_endpoints.find_removed"}, kOnePage,
              [](Tx& tx) { return store::find_removed_endpoints(tx, kEnd, kPage).size() + kDone; });
    calls.add({"webhook_endpoints.delete_deliveries"}, 6 * kPage + kEnds, [](OrgStore& org) {
        return store::delete_removed_endpoint(org, id_of<EndpointId>(1), kPage);
    });
    calls.add({"quotas.purge"}, 3 * kPage + kEnds, [](Tx& tx) {
        return store::purge_quota_uses(tx, Timestamp(60 * 86'400'000LL), kPage);
    });
    calls.add({"purge.ad_member_days"}, 3 * kPage + kEnds, [](Tx& tx) {
        return store::purge_ad_member_days(tx, Timestamp(5 * 86'400'000LL), kPage);
    });
    calls.add({"purge.pending_connections"}, 2 * 210 + kEnds, [](Tx& tx) {
        store::purge_pending_connections(tx, kEnd, kPage);
        return kDone;
    });
    calls.add({"purge.find_old_events"}, 2 * kEnds, [](Tx& tx) {
        store::find_old_events(tx, kEnd, kPage);
        return kDone;
    });
    calls.add({"purge.engagement_events"}, 2 * kPage + kEnds,
              [](OrgStore& org) { return store::purge_engagement_events(org, kEnd, kPage); });
    calls.add({"imports.delete"}, kEnds, [](OrgStore& org) {
        store::delete_import(org, id_of<ImportId>(60));
        return kDone;
    });
    return calls.all;
}

}  // namespace muster::test
