// Serves /console/v1/ads/campaigns…: ad campaigns with their targeting, limits and statistics
// (docs/ads.md "Ads").
#include "service/ads/campaigns.hpp"

#include "api/ads/day_record.hpp"
#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "rules/access/roles.hpp"
#include "rules/ads/targeting_record.hpp"
#include "rules/members/core_field_checks.hpp"
#include "rules/members/fields.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::array_of;
using json::Choice;
using json::Instant;
using json::Integer;
using json::Text;
using rules::AdCampaign;
using rules::AdDay;
using rules::Targeting;
using service::AdCampaignChange;
using service::NewAdCampaign;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

// A member's core field, but required.
template <rules::CoreField kField>
struct Core {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        out = *text;
        if (const auto fault = rules::normalize(kField, out, to.today)) {
            to.fault(path, *fault);
        } else if (out.empty()) {
            to.fault(path, FieldCode::Required);
        }
    }
    Json::Value schema() const {
        constexpr bool kIsCountry = kField == rules::CoreField::Country;
        Json::Value schema = JsonType<std::string>::typed("string");
        schema["minLength"] = kIsCountry ? 2 : 1;
        schema["maxLength"] = kIsCountry ? 2 : static_cast<int>(rules::kLongestLocale);
        return schema;
    }
};

// Validated with the registry later.
struct Attributes {
    static constexpr json::AnyObject kObject{4096};
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        RawJson json;
        kObject.decode(in, path, to, json);
        if (!json.text.empty()) out = rules::normalized_attributes(json.text);
    }
    Json::Value schema() const { return map_of(rules::attribute_value_schema()); }
};

constexpr std::size_t kMostEntries = 250;  // every country

constexpr auto kTargeting =
    json::object<Targeting>(
        json::optional("countries", &Targeting::countries,
                       array_of(Core<rules::CoreField::Country>{}, 0, kMostEntries),
                       "Allowed countries of the visitor. Empty: any.", R"(["GB"])"),
        json::optional("locales", &Targeting::locales,
                       array_of(Core<rules::CoreField::Locale>{}, 0, kMostEntries),
                       "Allowed locales of the visitor; de also matches de-AT. Empty: any.",
                       R"(["en"])"),
        json::optional("tags", &Targeting::tags,
                       array_of(Text{1, rules::kLongestAdTag, true}, 0, rules::kMostAdTags),
                       "Tags, one of which the page must have. Empty: any.", R"(["football"])"),
        json::optional("attributes", &Targeting::attributes, Attributes{},
                       "Values that the member must have, by attribute key. Empty: any.",
                       R"({"vip": true})"))
        .named("NewAdTargeting");

constexpr Text kName{1, 255};
constexpr auto kSlots = array_of(json::Uuid<SlotId>{}, 1, rules::kMostSlots);
constexpr Choice<rules::CampaignStatus> kStatus{};
constexpr Integer kWeight{1, rules::kHeaviestWeight};
constexpr Integer kBudget{1, rules::kMostDailyImpressions};
constexpr Integer kCap{1, rules::kHighestFrequencyCap};

constexpr auto kNewCampaign = json::object<NewAdCampaign>(
    json::required("name", &NewAdCampaign::name, kName, "Name for people.", "Cup final"),
    json::required("slot_ids", &NewAdCampaign::slot_ids, kSlots,
                   "Ids of the slots that show the campaign, without duplicates."),
    json::optional("status", &NewAdCampaign::status, kStatus, "active (default) or paused."),
    json::optional("starts_at", &NewAdCampaign::starts_at, Instant{},
                   "Time of the first impression. If omitted: now."),
    json::optional("ends_at", &NewAdCampaign::ends_at, Instant{},
                   "Time of the end, after starts_at. If omitted: no end."),
    json::optional("weight", &NewAdCampaign::weight, kWeight,
                   "Relative share among the matching campaigns. If omitted: 1."),
    json::optional("daily_impressions", &NewAdCampaign::daily_impressions, kBudget,
                   "Maximum impressions per day (UTC), spread over the day. If omitted: no limit."),
    json::optional("frequency_cap", &NewAdCampaign::frequency_cap, kCap,
                   "Maximum impressions per member and day (UTC). If omitted: no limit."),
    json::optional("targeting", &NewAdCampaign::targeting, kTargeting,
                   "Who sees the campaign. If omitted: every visitor."));

constexpr auto kCampaignChange = json::object<AdCampaignChange>(
    json::changeable("name", &AdCampaignChange::name, kName,
                     "Name for people. If omitted, not changed.", "Cup final"),
    json::changeable("slot_ids", &AdCampaignChange::slot_ids, kSlots,
                     "Ids of all slots that show the campaign. If omitted, not changed."),
    json::changeable("status", &AdCampaignChange::status, kStatus,
                     "active or paused. If omitted, not changed."),
    json::changeable("starts_at", &AdCampaignChange::starts_at, Instant{},
                     "Time of the first impression. If omitted, not changed."),
    json::clearable("ends_at", &AdCampaignChange::ends_at, Instant{},
                    "Time of the end, after starts_at. null: no end. If omitted, not changed."),
    json::changeable("weight", &AdCampaignChange::weight, kWeight,
                     "Relative share among the matching campaigns. If omitted, not changed."),
    json::clearable("daily_impressions", &AdCampaignChange::daily_impressions, kBudget,
                    "Maximum impressions per day (UTC). null: no limit. If omitted, not changed."),
    json::clearable(
        "frequency_cap", &AdCampaignChange::frequency_cap, kCap,
        "Maximum impressions per member and day (UTC). null: no limit. If omitted, not changed."),
    json::changeable("targeting", &AdCampaignChange::targeting, kTargeting,
                     "Replaces the whole targeting. If omitted, not changed."));

constexpr std::string_view kNewCampaignExample = R"({
  "name": "Cup final", "slot_ids": ["019a9f3c-7b1e-7c44-9d5a-3f1f0a2b6c8d"],
  "ends_at": "2026-12-31T23:59:59Z", "weight": 10, "daily_impressions": 10000, "frequency_cap": 3,
  "targeting": {"countries": ["GB"], "locales": ["en"], "tags": ["football"]}})";

// ---------------------------------------------------------------------------- replies

constexpr auto kCampaign = record<AdCampaign>(
    "AdCampaign", field<&AdCampaign::id>("id", "Id of the record."),
    field<&AdCampaign::organization_id>("organization_id",
                                        "Id of the organization that the record belongs to."),
    field<&AdCampaign::name>("name", "Name for people.", "Cup final"),
    field<&AdCampaign::slot_ids>("slot_ids", "Ids of the slots that show the campaign."),
    field<&AdCampaign::status>("status", "active: shown; paused: not shown."),
    field<&AdCampaign::starts_at>("starts_at", "Time of the first impression."),
    field<&AdCampaign::ends_at>("ends_at", "Time of the end; null for no end."),
    field<&AdCampaign::weight>("weight", "Relative share among the matching campaigns."),
    field<&AdCampaign::daily_impressions>("daily_impressions",
                                          "Maximum impressions per day (UTC); null for no limit."),
    field<&AdCampaign::frequency_cap>(
        "frequency_cap", "Maximum impressions per member and day (UTC); null for no limit."),
    field<&AdCampaign::targeting>("targeting", "Who sees the campaign."),
    field<&AdCampaign::created_at>("created_at", "Time when the record was created."),
    field<&AdCampaign::updated_at>("updated_at", "Time of the last change."));

constexpr auto kCampaignList = list_of<kCampaign>("AdCampaignList", "campaigns");

struct Stats {
    std::vector<AdDay> days;
};
constexpr auto kStats = record<Stats>(
    "AdCampaignStats",
    field<&Stats::days>("days", "One entry for each day with figures, oldest first."));

// ---------------------------------------------------------------------------- handlers

auto list_campaigns(Call& call) {
    auto campaigns = service::list_ad_campaigns(
        call.context, call.org(), call.cursor_id<CampaignId>(), call.query.integer("limit") + 1);
    return page_of(call, std::move(campaigns));
}

auto create_campaign(Call&, OrgTransaction& transaction, const NewAdCampaign& in) {
    auto campaign = service::create_ad_campaign(transaction, in);
    std::string location = "/console/v1/ads/campaigns/" + campaign.id.text();
    return Answer{std::move(campaign), std::move(location)};
}

auto get_campaign(Call& call) {
    return service::read_ad_campaign(call.context, call.org(), call.id<CampaignId>());
}

auto change_campaign(Call& call, OrgTransaction& transaction, const AdCampaignChange& in) {
    const auto id = call.id<CampaignId>();
    return service::change_ad_campaign(transaction, id, in, version_check(call));
}

void delete_campaign(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<CampaignId>();
    service::delete_ad_campaign(transaction, id, version_check(call));
}

auto get_stats(Call& call) {
    return Stats{service::list_ad_days(call.context, call.org(), call.id<CampaignId>(),
                                       call.query.integer("days"))};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kCampaignListQuery = {page_limit(), kPageCursor};
constexpr std::array kStatsQuery = {
    QueryParameter{.name = "days",
                   .kind = QueryParameter::Kind::Integer,
                   .least = 1,
                   .most = 366,
                   .fallback = 90,
                   .meaning = "Number of days (UTC), including today."},
};
constexpr std::array kWriteErrors = {ErrorCode::InvalidState};

constexpr std::array kCampaignEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/ads/campaigns",
        .operation = "listAdCampaigns",
        .summary = "List the organization's ad campaigns",
        .description =
            "Lists all ad campaigns of the organization, including paused ones. The list is paged by "
            "cursor.",
        .access = Access::Console,
        .query = kCampaignListQuery,
        .reply = {200, "A page of campaigns."},
        .handler = answers<kCampaignList, list_campaigns>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/ads/campaigns",
        .operation = "createAdCampaign",
        .summary = "Create an ad campaign",
        .description =
            "Creates an ad campaign that runs in one or more slots. By default, it is active and "
            "starts now. Targeting by attributes requires enabled attributes. Repeat "
            "safely with an Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewAdCampaign",
        .body_schema = schema_of<kNewCampaign>,
        .body_example = kNewCampaignExample,
        .reply = with_version({201, "The campaign."}),
        .errors = kWriteErrors,
        .handler = decoded<kNewCampaign, answers<kCampaign, create_campaign>>,
        .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/campaigns/{campaignId}",
             .operation = "getAdCampaign",
             .summary = "Get an ad campaign",
             .description =
                 "Returns one ad campaign with its targeting. Its impressions and clicks are in "
                 "getAdCampaignStats.",
             .access = Access::Console,
             .reply = with_version({200, "The campaign."}),
             .handler = answers<kCampaign, get_campaign>,
             .is_published = false},
    Endpoint{
        .method = Method::Patch,
        .path = "/console/v1/ads/campaigns/{campaignId}",
        .operation = "updateAdCampaign",
        .summary = "Change, pause or resume an ad campaign",
        .description =
            "Changes the fields that are sent and keeps the others. Use status to pause or resume "
            "a campaign. null removes an end or a limit; targeting is replaced as a whole.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "AdCampaignChange",
        .body_schema = schema_of<kCampaignChange>,
        .body_example = R"({"status": "paused"})",
        .reply = with_version({200, "The campaign as it is now."}),
        .errors = kWriteErrors,
        .handler = decoded<kCampaignChange, answers<kCampaign, change_campaign>>,
        .is_published = false},
    Endpoint{
        .method = Method::Delete,
        .path = "/console/v1/ads/campaigns/{campaignId}",
        .operation = "deleteAdCampaign",
        .summary = "Delete an ad campaign with its creatives and statistics",
        .description =
            "Deletes the campaign with its creatives and its statistics. Pause it instead to keep "
            "the statistics.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .reply = {204, "Deleted."},
        .handler = answers_nothing<delete_campaign>,
        .is_published = false},
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/ads/campaigns/{campaignId}/stats",
        .operation = "getAdCampaignStats",
        .summary = "Get a campaign's impressions and clicks by day",
        .description =
            "Returns the impressions and clicks of each day (UTC) that has any. days sets how far "
            "back the list goes, today included.",
        .access = Access::Console,
        .query = kStatsQuery,
        .reply = {200, "The days with figures, oldest first."},
        .handler = answers<kStats, get_stats>,
        .is_published = false},
};
static_assert(well_formed(kCampaignEndpoints, "/console/v1/ads/campaigns"));

}  // namespace

std::span<const Endpoint> ad_campaign_endpoints() {
    return kCampaignEndpoints;
}

}  // namespace muster::api
