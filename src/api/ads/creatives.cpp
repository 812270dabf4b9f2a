// Serves /console/v1/ads/creatives…: the creatives of ad campaigns (docs/ads.md "Ads").
#include "service/ads/creatives.hpp"

#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "base/text.hpp"
#include "rules/access/roles.hpp"
#include "rules/origins.hpp"
#include "service/page_bytes.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Choice;
using json::clearable;
using json::Integer;
using json::Text;
using rules::AdCreative;
using service::AdCreativeChange;
using service::NewAdCreative;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

enum class Scheme : std::uint8_t { Https, Any };

// An absolute URL with a host and no user.
struct WebUrl {
    Scheme scheme;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto value = to.string(in, path);
        if (!value) return;
        const std::string_view text = trimmed(*value);
        if (text.empty()) return to.fault(path, FieldCode::Required);
        if (text.size() > rules::kLongestWebUrl) {
            return to.fault(path, FieldCode::TooLong, longest(rules::kLongestWebUrl));
        }
        const bool is_https = equal_ignoring_case(text.substr(0, text.find(':')), "https");
        if (!rules::is_web_url(text) || (scheme == Scheme::Https && !is_https)) {
            return to.fault(path, FieldCode::InvalidUrl);
        }
        out = text;
    }
    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("string", "uri");
        schema["maxLength"] = Json::UInt64(rules::kLongestWebUrl);
        return schema;
    }
};

// HTML, not trimmed, with its line breaks.
struct Markup {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        if (trimmed(*text).empty()) return to.fault(path, FieldCode::Required);
        if (text->size() > rules::kMostAdHtml) {
            return to.fault(path, FieldCode::TooLong, longest(rules::kMostAdHtml));
        }
        out = *text;
    }
    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("string");
        schema["minLength"] = 1;
        schema["maxLength"] = Json::UInt64(rules::kMostAdHtml);
        return schema;
    }
};

constexpr Choice<rules::CreativeKind> kCreativeKind{};
constexpr Integer kCreativeSide{1, rules::kLargestSide};
constexpr Text kAlt{1, 255};
constexpr WebUrl kImageUrl{Scheme::Https};
constexpr WebUrl kLandingUrl{Scheme::Any};

constexpr auto kNewCreative = json::object<NewAdCreative>(
    json::required("campaign_id", &NewAdCreative::campaign_id, json::Uuid<CampaignId>{},
                   "Id of the campaign. It never changes."),
    json::required("kind", &NewAdCreative::kind, kCreativeKind,
                   "image requires image_url; html requires html."),
    json::optional("image_url", &NewAdCreative::image_url, kImageUrl,
                   "HTTPS address of the picture; only for image.",
                   "https://img.example/final.png"),
    json::optional("html", &NewAdCreative::html, Markup{},
                   "HTML of the ad; only for html. It is sanitized when it is written.",
                   "<b>Final on Sunday</b>"),
    json::optional("alt", &NewAdCreative::alt, kAlt, "Text in place of the picture.", "The final"),
    json::required("width", &NewAdCreative::width, kCreativeSide, "Width in pixels."),
    json::required("height", &NewAdCreative::height, kCreativeSide, "Height in pixels."),
    json::required("landing_url", &NewAdCreative::landing_url, kLandingUrl,
                   "Address that a click leads to.", "https://shop.example/final"));

constexpr auto kCreativeChange = json::object<AdCreativeChange>(
    json::changeable("kind", &AdCreativeChange::kind, kCreativeKind,
                     "image requires image_url; html requires html. If omitted, not changed."),
    clearable("image_url", &AdCreativeChange::image_url, kImageUrl,
              "HTTPS address of the picture. null removes it. If omitted, not changed.",
              "https://img.example/final.png"),
    clearable("html", &AdCreativeChange::html, Markup{},
              "HTML of the ad. null removes it. If omitted, not changed.",
              "<b>Final on Sunday</b>"),
    clearable("alt", &AdCreativeChange::alt, kAlt,
              "Text in place of the picture. null removes it. If omitted, not changed.",
              "The final"),
    json::changeable("width", &AdCreativeChange::width, kCreativeSide,
                     "Width in pixels. If omitted, not changed."),
    json::changeable("height", &AdCreativeChange::height, kCreativeSide,
                     "Height in pixels. If omitted, not changed."),
    json::changeable("landing_url", &AdCreativeChange::landing_url, kLandingUrl,
                     "Address that a click leads to. If omitted, not changed.",
                     "https://shop.example/final"));

constexpr std::string_view kNewCreativeExample = R"({
  "campaign_id": "019a9f3c-7b1e-7c44-9d5a-3f1f0a2b6c8d", "kind": "image",
  "image_url": "https://img.example/final.png", "alt": "The final", "width": 728, "height": 90,
  "landing_url": "https://shop.example/final"})";

// ---------------------------------------------------------------------------- replies

constexpr auto kCreative = record<AdCreative>(
    "AdCreative", field<&AdCreative::id>("id", "Id of the record."),
    field<&AdCreative::organization_id>("organization_id",
                                        "Id of the organization that the record belongs to."),
    field<&AdCreative::campaign_id>("campaign_id", "Id of the campaign."),
    field<&AdCreative::kind>("kind", "image shows image_url; html shows html."),
    field<&AdCreative::image_url>("image_url", "HTTPS address of the picture; null for html.",
                                  "https://img.example/final.png"),
    field<&AdCreative::html>("html", "Sanitized HTML of the ad; null for image.",
                             "<b>Final on Sunday</b>"),
    field<&AdCreative::alt>("alt", "Text in place of the picture; null if there is none.",
                            "The final"),
    field<&AdCreative::width>("width", "Width in pixels."),
    field<&AdCreative::height>("height", "Height in pixels."),
    field<&AdCreative::landing_url>("landing_url", "Address that a click leads to.",
                                    "https://shop.example/final"),
    field<&AdCreative::created_at>("created_at", "Time when the record was created."),
    field<&AdCreative::updated_at>("updated_at", "Time of the last change."));

constexpr auto kCreativeList = list_of<kCreative>("AdCreativeList", "creatives");

// ---------------------------------------------------------------------------- handlers

std::optional<CampaignId> campaign_filter(const Call& call) {
    const auto text = call.query.text("campaign_id");
    if (!text) return std::nullopt;
    const auto id = CampaignId::parse(*text);
    if (id) return id;
    Faults faults;
    faults.add("campaign_id", FieldCode::InvalidUuid);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

std::size_t html_bytes(const AdCreative& creative) {
    return creative.html ? creative.html->size() : 0;
}

auto list_creatives(Call& call) {
    auto creatives =
        service::list_ad_creatives(call.context, call.org(), campaign_filter(call),
                                   call.cursor_id<CreativeId>(), call.query.integer("limit") + 1);
    if (!service::end_page_early(creatives, html_bytes)) {
        return page_of(call, std::move(creatives));
    }
    const std::optional<std::string> next(creatives.back().id.bytes());
    return page_of(call, std::move(creatives), next);
}

auto create_creative(Call&, OrgTransaction& transaction, const NewAdCreative& in) {
    auto creative = service::create_ad_creative(transaction, in);
    std::string location = "/console/v1/ads/creatives/" + creative.id.text();
    return Answer{std::move(creative), std::move(location)};
}

auto get_creative(Call& call) {
    return service::read_ad_creative(call.context, call.org(), call.id<CreativeId>());
}

auto change_creative(Call& call, OrgTransaction& transaction, const AdCreativeChange& in) {
    const auto id = call.id<CreativeId>();
    return service::change_ad_creative(transaction, id, in, version_check(call));
}

void delete_creative(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<CreativeId>();
    service::delete_ad_creative(transaction, id, version_check(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kCreativeListQuery = {
    QueryParameter{.name = "campaign_id", .meaning = "Only creatives of this campaign."},
    // A creative may be as large as its HTML.
    page_limit(100, 20),
    kPageCursor,
};
constexpr std::array kCreativeCreateErrors = {ErrorCode::InvalidState};

constexpr std::array kCreativeEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/ads/creatives",
        .operation = "listAdCreatives",
        .summary = "List the organization's ad creatives",
        .description =
            "Lists the ad creatives of the organization, or of one campaign with campaign_id. The "
            "list is paged by cursor.",
        .access = Access::Console,
        .query = kCreativeListQuery,
        .reply = {200, "A page of creatives."},
        .handler = answers<kCreativeList, list_creatives>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/ads/creatives",
        .operation = "createAdCreative",
        .summary = "Create an ad creative",
        .description =
            "Creates a creative of a campaign: a picture or HTML. It is shown in slots of exactly "
            "its width and height. HTML is sanitized; 422 if nothing remains. Repeat safely with "
            "an Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewAdCreative",
        .body_schema = schema_of<kNewCreative>,
        .body_example = kNewCreativeExample,
        .reply = with_version({201, "The creative."}),
        .errors = kCreativeCreateErrors,
        .handler = decoded<kNewCreative, answers<kCreative, create_creative>>,
        .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/console/v1/ads/creatives/{creativeId}",
             .operation = "getAdCreative",
             .summary = "Get an ad creative",
             .description = "Returns one ad creative. Its HTML is sanitized.",
             .access = Access::Console,
             .reply = with_version({200, "The creative."}),
             .handler = answers<kCreative, get_creative>,
             .is_published = false},
    Endpoint{
        .method = Method::Patch,
        .path = "/console/v1/ads/creatives/{creativeId}",
        .operation = "updateAdCreative",
        .summary = "Change an ad creative",
        .description =
            "Changes the fields that are sent and keeps the others. The campaign cannot change. "
            "HTML is sanitized again. A creative has either image_url or html.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "AdCreativeChange",
        .body_schema = schema_of<kCreativeChange>,
        .body_example = R"({"landing_url": "https://shop.example/tickets"})",
        .reply = with_version({200, "The creative as it is now."}),
        .handler = decoded<kCreativeChange, answers<kCreative, change_creative>>,
        .is_published = false},
    Endpoint{
        .method = Method::Delete,
        .path = "/console/v1/ads/creatives/{creativeId}",
        .operation = "deleteAdCreative",
        .summary = "Delete an ad creative",
        .description = "Deletes the creative. Links of ads that are already shown then return 404.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .reply = {204, "Deleted."},
        .handler = answers_nothing<delete_creative>,
        .is_published = false},
};
static_assert(well_formed(kCreativeEndpoints, "/console/v1/ads/creatives"));

}  // namespace

std::span<const Endpoint> ad_creative_endpoints() {
    return kCreativeEndpoints;
}

}  // namespace muster::api
