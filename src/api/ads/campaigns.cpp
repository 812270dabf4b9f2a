// Serves /console/v1/ads/campaigns…: who is shown an organization's ads, when and how often, and
// what came of it (docs/engagement.md "Ads").
#include "service/ads/campaigns.hpp"

#include "api/groups.hpp"
#include "rules/members/fields.hpp"

namespace muster {

// As json::object<Targeting> below reads it.
template <>
struct JsonType<rules::Targeting> {
    static constexpr auto kRecord = record<rules::Targeting>(
        "AdTargeting", field<&rules::Targeting::countries>("countries"),
        field<&rules::Targeting::locales>("locales"), field<&rules::Targeting::tags>("tags"),
        RecordField<rules::Targeting>{
            "attributes", [](JsonWriter& to, const rules::Targeting& of) { to.raw(of.attributes); },
            JsonType<RawJson>::schema});
    static void write(JsonWriter& to, const rules::Targeting& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster

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

// As of a member, save that it must be there.
template <rules::CoreField kField>
struct Core {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        out = *text;
        if (const auto fault = rules::normalise(kField, out, to.today)) {
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

// Judged against the registry later.
struct Attributes {
    static constexpr json::AnyObject kObject{4096};
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        RawJson json;
        kObject.decode(in, path, to, json);
        if (!json.text.empty()) out = std::move(json.text);
    }
    Json::Value schema() const { return kObject.schema(); }
};

constexpr std::size_t kMostEntries = 250;  // every country

constexpr auto kTargeting = json::object<Targeting>(
    json::optional("countries", &Targeting::countries,
                   array_of(Core<rules::CoreField::Country>{}, 0, kMostEntries)),
    json::optional("locales", &Targeting::locales,
                   array_of(Core<rules::CoreField::Locale>{}, 0, kMostEntries)),
    json::optional("tags", &Targeting::tags,
                   array_of(Text{1, rules::kLongestAdTag}, 0, rules::kMostAdTags)),
    json::optional("attributes", &Targeting::attributes, Attributes{}));

constexpr Text kName{1, 255};
constexpr auto kSlots = array_of(json::Uuid<SlotId>{}, 1, rules::kMostSlots);
constexpr Choice<rules::CampaignStatus> kStatus{};
constexpr Integer kWeight{1, rules::kHeaviestWeight};
constexpr Integer kBudget{1, rules::kMostDailyImpressions};
constexpr Integer kCap{1, rules::kHighestFrequencyCap};

constexpr auto kNewCampaign = json::object<NewAdCampaign>(
    json::required("name", &NewAdCampaign::name, kName),
    json::required("slot_ids", &NewAdCampaign::slot_ids, kSlots),
    json::optional("status", &NewAdCampaign::status, kStatus),
    json::optional("starts_at", &NewAdCampaign::starts_at, Instant{}),
    json::optional("ends_at", &NewAdCampaign::ends_at, Instant{}),
    json::optional("weight", &NewAdCampaign::weight, kWeight),
    json::optional("daily_impressions", &NewAdCampaign::daily_impressions, kBudget),
    json::optional("frequency_cap", &NewAdCampaign::frequency_cap, kCap),
    json::optional("targeting", &NewAdCampaign::targeting, kTargeting));

constexpr auto kCampaignChange = json::object<AdCampaignChange>(
    json::optional("name", &AdCampaignChange::name, kName),
    json::optional("slot_ids", &AdCampaignChange::slot_ids, kSlots),
    json::optional("status", &AdCampaignChange::status, kStatus),
    json::optional("starts_at", &AdCampaignChange::starts_at, Instant{}),
    json::clearable("ends_at", &AdCampaignChange::ends_at, Instant{}),
    json::optional("weight", &AdCampaignChange::weight, kWeight),
    json::clearable("daily_impressions", &AdCampaignChange::daily_impressions, kBudget),
    json::clearable("frequency_cap", &AdCampaignChange::frequency_cap, kCap),
    json::optional("targeting", &AdCampaignChange::targeting, kTargeting));

constexpr std::string_view kNewCampaignExample = R"({
  "name": "Cup final", "slot_ids": ["019a9f3c-7b1e-7c44-9d5a-3f1f0a2b6c8d"],
  "ends_at": "2026-12-31T23:59:59Z", "weight": 10, "daily_impressions": 10000, "frequency_cap": 3,
  "targeting": {"countries": ["GB"], "locales": ["en"], "tags": ["football"]}})";

// ---------------------------------------------------------------------------- replies

constexpr auto kCampaign = record<AdCampaign>(
    "AdCampaign", field<&AdCampaign::id>("id"),
    field<&AdCampaign::organization_id>("organization_id"), field<&AdCampaign::name>("name"),
    field<&AdCampaign::slot_ids>("slot_ids"), field<&AdCampaign::status>("status"),
    field<&AdCampaign::starts_at>("starts_at"), field<&AdCampaign::ends_at>("ends_at"),
    field<&AdCampaign::weight>("weight"),
    field<&AdCampaign::daily_impressions>("daily_impressions"),
    field<&AdCampaign::frequency_cap>("frequency_cap"), field<&AdCampaign::targeting>("targeting"),
    field<&AdCampaign::created_at>("created_at"), field<&AdCampaign::updated_at>("updated_at"));

constexpr auto kCampaignList = list_of<kCampaign>("AdCampaignList", "campaigns");

constexpr auto kDay =
    record<AdDay>("AdDay", field<&AdDay::date>("date"), field<&AdDay::impressions>("impressions"),
                  field<&AdDay::clicks>("clicks"));

struct Stats {
    std::vector<AdDay> days;
};
constexpr auto kStats = record<Stats>(
    "AdCampaignStats", RecordField<Stats>{"days",
                                          [](JsonWriter& to, const Stats& stats) {
                                              to.begin_array();
                                              for (const AdDay& day : stats.days) {
                                                  kDay.write(to, day);
                                              }
                                              to.end_array();
                                          },
                                          [] {
                                              auto schema = JsonType<std::string>::typed("array");
                                              schema["items"] = kDay.schema();
                                              return schema;
                                          }});

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
    return service::change_ad_campaign(transaction, id, in);
}

void delete_campaign(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<CampaignId>();
    service::delete_ad_campaign(transaction, id);
}

auto get_stats(Call& call) {
    return Stats{service::list_ad_days(call.context, call.org(), call.id<CampaignId>(),
                                       call.query.integer("days"))};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {page_limit("Campaigns a page."), kPageCursor};
constexpr std::array kStatsQuery = {
    QueryParameter{.name = "days",
                   .kind = QueryParameter::Kind::Integer,
                   .least = 1,
                   .most = 366,
                   .fallback = 90,
                   .meaning = "How many days (UTC), today's among them."},
};
constexpr std::array kWriteErrors = {ErrorCode::InvalidState};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/campaigns",
             .operation = "listAdCampaigns",
             .summary = "List the organization's ad campaigns",
             .access = Access::Console,
             .query = kListQuery,
             .reply = {200, "A page of campaigns."},
             .handler = answers<kCampaignList, list_campaigns>,
             .is_published = false},
    Endpoint{.method = Method::Post,
             .path = "/console/v1/ads/campaigns",
             .operation = "createAdCampaign",
             .summary = "Make an ad campaign",
             .access = Access::Console,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "NewAdCampaign",
             .body_schema = schema_of<kNewCampaign>,
             .body_example = kNewCampaignExample,
             .reply = {201, "The campaign."},
             .errors = kWriteErrors,
             .handler = decoded<kNewCampaign, answers<kCampaign, create_campaign>>,
             .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/campaigns/{campaignId}",
             .operation = "getAdCampaign",
             .summary = "Get an ad campaign",
             .access = Access::Console,
             .reply = {200, "The campaign."},
             .handler = answers<kCampaign, get_campaign>,
             .is_published = false},
    Endpoint{.method = Method::Patch,
             .path = "/console/v1/ads/campaigns/{campaignId}",
             .operation = "updateAdCampaign",
             .summary = "Change, pause or resume an ad campaign",
             .access = Access::Console,
             .role = rules::Role::Admin,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "AdCampaignChange",
             .body_schema = schema_of<kCampaignChange>,
             .body_example = R"({"status": "paused"})",
             .reply = {200, "The campaign as it is now."},
             .errors = kWriteErrors,
             .handler = decoded<kCampaignChange, answers<kCampaign, change_campaign>>,
             .is_published = false},
    Endpoint{.method = Method::Delete,
             .path = "/console/v1/ads/campaigns/{campaignId}",
             .operation = "deleteAdCampaign",
             .summary = "Delete an ad campaign with its creatives and figures",
             .access = Access::Console,
             .role = rules::Role::Admin,
             .reply = {204, "It is gone."},
             .handler = answers_nothing<delete_campaign>,
             .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/campaigns/{campaignId}/stats",
             .operation = "getAdCampaignStats",
             .summary = "Get a campaign's impressions and clicks by day",
             .access = Access::Console,
             .query = kStatsQuery,
             .reply = {200, "The days that have figures, the earliest first."},
             .handler = answers<kStats, get_stats>,
             .is_published = false},
};
static_assert(well_formed(kEndpoints, "/console/v1/ads/campaigns"));

}  // namespace

std::span<const Endpoint> ad_campaign_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
