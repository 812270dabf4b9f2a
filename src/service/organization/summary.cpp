#include "service/organization/summary.hpp"

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"
#include "rules/content/articles.hpp"
#include "rules/members/status.hpp"
#include "store/organization/summary.hpp"

#include <algorithm>

namespace muster::service {
namespace {

rules::BoundedCount bounded(std::int64_t counted) {
    return {std::min(counted, rules::kMostSummarized), counted <= rules::kMostSummarized};
}

rules::MemberCounts count_summarized_members(db::OrgStore& org, Timestamp now) {
    constexpr std::int64_t kMost = rules::kMostSummarized + 1;
    const auto of_status = [&](rules::MemberStatus status) {
        return bounded(store::count_members_of_status(org, text_of(status), kMost));
    };
    return {of_status(rules::MemberStatus::Active), of_status(rules::MemberStatus::Locked),
            bounded(store::count_members_changed(org, now - rules::kSummarizedChanges, kMost))};
}

}  // namespace

rules::OrganizationSummary summarize_organization(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        rules::OrganizationSummary summary;
        summary.organization_id = organization;
        summary.members = count_summarized_members(org, now);
        summary.active_import = store::find_active_import(org, now);
        summary.team = store::count_team(org, now);
        summary.enabled_attributes = store::count_enabled_attributes(org);
        const auto keys = store::count_keys(org, now, now + rules::kSummarizedExpiry);
        summary.valid_keys = keys.valid;
        summary.keys_expiring_in_30_days = keys.expiring;
        summary.webhook_endpoints = store::count_endpoints_by_state(org);
        summary.connections = store::count_connections_of(org);
        summary.articles = store::count_articles_by_status(org, now, rules::kMostArticles);
        summary.ads_in_7_days =
            store::sum_ad_days(org, rules::ad_day_of(now) - rules::kSummarizedAdDays + 1);
        return summary;
    });
}

}  // namespace muster::service
