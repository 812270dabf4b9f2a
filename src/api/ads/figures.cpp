// Serves /console/v1/ads/figures: the figures of all campaigns at once, and why a campaign shows
// nothing (docs/ads.md "Figures of all campaigns").
#include "service/ads/figures.hpp"

#include "api/ads/day_record.hpp"
#include "api/groups.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using service::AdCampaignFigures;

constexpr auto kFigures = record<AdCampaignFigures>(
    "AdCampaignFigures", field<&AdCampaignFigures::id>("campaign_id", "Id of the campaign."),
    field<&AdCampaignFigures::name>("name", "Name for people.", "Cup final"),
    field<&AdCampaignFigures::status>("status", "active or paused."),
    field<&AdCampaignFigures::daily_impressions>(
        "daily_impressions", "Maximum impressions per day (UTC); null for no limit."),
    field<&AdCampaignFigures::served_today>(
        "served_today",
        "Number of ads handed out today (UTC) and not returned to the budget; null without "
        "daily_impressions, because they are not counted."),
    field<&AdCampaignFigures::impressions>("impressions", "Impressions of all days of the reply."),
    field<&AdCampaignFigures::clicks>("clicks", "Clicks of all days of the reply."),
    field<&AdCampaignFigures::slots_without_creative>(
        "slots_without_creative",
        "Number of the campaign's slots for whose size it has no creative."),
    field<&AdCampaignFigures::not_shown_because>(
        "not_shown_because",
        "Why the campaign shows no ad now; empty if it can. paused; not_begun: starts_at is in the "
        "future; ended: ends_at has passed; no_creative; no_fitting_creative: no slot has the size "
        "of a creative; budget_spent: daily_impressions is reached; ahead_of_pace: the share of "
        "daily_impressions for this time of the day is reached.",
        R"(["paused"])"),
    field<&AdCampaignFigures::days>("days",
                                    "One entry for each day, oldest first, also without "
                                    "figures."));

constexpr auto kFiguresList = list_of<kFigures>("AdCampaignFiguresList", "campaigns");

auto list_figures(Call& call) {
    auto figures =
        service::list_ad_figures(call.context, call.org(), call.cursor_id<CampaignId>(),
                                 call.query.integer("days"), call.query.integer("limit") + 1);
    return page_of(call, std::move(figures));
}

constexpr std::array kFiguresQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "days",
                   .kind = QueryParameter::Kind::Integer,
                   .least = 1,
                   .most = service::kMostFigureDays,
                   .fallback = 7,
                   .meaning = "Number of days (UTC), including today."},
};

constexpr std::array kFiguresEndpoints = {
    Endpoint{.method = http::Method::Get,
             .path = "/console/v1/ads/figures",
             .operation = "listAdFigures",
             .summary = "List the figures of all ad campaigns",
             .description =
                 "Lists the impressions and clicks of each campaign by day, what it served today, "
                 "and why it shows nothing. The order is that of listAdCampaigns.",
             .access = Access::Console,
             .query = kFiguresQuery,
             .reply = {200, "A page of figures, one entry for each campaign."},
             .handler = answers<kFiguresList, list_figures>,
             .is_published = false},
};
static_assert(well_formed(kFiguresEndpoints, "/console/v1/ads/figures"));

}  // namespace

std::span<const Endpoint> ad_figures_endpoints() {
    return kFiguresEndpoints;
}

}  // namespace muster::api
