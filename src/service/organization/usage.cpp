#include "service/organization/usage.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"
#include "rules/connections/connection.hpp"
#include "rules/content/articles.hpp"
#include "service/access/api_keys.hpp"
#include "service/attributes.hpp"
#include "service/modules/modules.hpp"
#include "service/pages/publishable_keys.hpp"
#include "service/quotas.hpp"
#include "service/webhooks/endpoints.hpp"
#include "store/access/api_keys.hpp"
#include "store/content/articles.hpp"
#include "store/organization/usage.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::Quota;
using rules::Usage;

std::vector<Usage> uses_of_today(db::OrgStore& org, const LimitsSettings& limits, Timestamp now) {
    std::vector<Usage> usage;
    usage.reserve(kNames<Quota>.size());
    for (const auto& [quota, name] : kNames<Quota>) {
        usage.push_back({std::string(name), used_today(org, quota, now), maximum_of(quota, limits),
                         rules::end_of_quota_day(now)});
    }
    return usage;
}

// Records of which an organization has a limited number.
struct CountedRecords {
    std::string_view limit;
    std::int64_t most;
    std::int64_t (*count)(db::OrgStore& org, std::int64_t most);
};
constexpr CountedRecords kCountedRecords[] = {
    {"publishable_keys", kMostPublishableKeys, store::count_used_publishable_keys},
    {"attributes", kMostAttributes, store::count_used_attributes},
    {"modules", kMostModules, store::count_used_modules},
    {"webhook_endpoints", kMostEndpointsInAll, store::count_used_webhook_endpoints},
    {"articles", rules::kMostArticles, store::count_articles},
    {"ad_slots", rules::kMostSlots, store::count_used_ad_slots},
    {"ad_campaigns", rules::kMostCampaigns, store::count_used_ad_campaigns},
    {"connections", rules::kMostConnections, store::count_used_connections},
};

}  // namespace

rules::OrganizationUsage organization_usage(Context& context, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        rules::OrganizationUsage all{organization,
                                     uses_of_today(org, context.settings.limits, now)};
        all.usage.push_back({"api_keys", store::count_live_api_keys(org, now, kMostApiKeys + 1),
                             kMostApiKeys, std::nullopt});
        for (const auto& [limit, most, count] : kCountedRecords) {
            all.usage.push_back({std::string(limit), count(org, most + 1), most, std::nullopt});
        }
        const std::int64_t backlog = context.settings.webhooks.backlog;
        const std::int64_t counted = std::min(backlog, rules::kMostCountedDeliveries) + 1;
        all.usage.push_back({"waiting_deliveries", store::count_waiting_deliveries(org, counted),
                             backlog, std::nullopt});
        return all;
    });
}

}  // namespace muster::service
