// Serves /v1/ads…: the ad for a slot of a page, and its impressions and clicks by signed tokens
// (specification 4.6, docs/ads.md "Ads"). The console manages slots, campaigns and
// creatives.
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "rules/members/core_field_checks.hpp"
#include "rules/members/fields.hpp"
#include "service/ads/serving.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::AdCreative;
using service::AdRequest;
using service::Counting;
using service::ServedAd;

// ---------------------------------------------------------------------------- replies

// An ad with its links.
struct ShownAd {
    AdCreative creative;
    std::string click_url;
    std::string impression_url;
};

constexpr auto kAd = record<ShownAd>(
    "Ad", field<&ShownAd::creative, &AdCreative::id>("id", "Id of the record."),
    field<&ShownAd::creative, &AdCreative::kind>("kind", "image shows image_url; html shows html."),
    field<&ShownAd::creative, &AdCreative::image_url>(
        "image_url", "HTTPS address of the picture; null for html.",
        "https://img.example/final.png"),
    field<&ShownAd::creative, &AdCreative::html>(
        "html", "Sanitized HTML of the ad; null for image.", "<b>Final on Sunday</b>"),
    field<&ShownAd::creative, &AdCreative::alt>(
        "alt", "Text in place of the picture; null if there is none.", "The final"),
    field<&ShownAd::creative, &AdCreative::width>("width", "Width in pixels."),
    field<&ShownAd::creative, &AdCreative::height>("height", "Height in pixels."),
    field<&ShownAd::click_url>(
        "click_url",
        "Address for the ad's link. It counts the click and leads to the landing page.",
        "/v1/ads/clicks/token"),
    field<&ShownAd::impression_url>(
        "impression_url", "Address to load when the ad is visible. It counts the impression.",
        "/v1/ads/impressions/token"));

struct Served {
    std::string slot;
    std::optional<ShownAd> ad;
};

Json::Value ad_or_null_schema() {
    return or_null(kAd.schema());
}

constexpr auto kServed =
    record<Served>("ServedAd", field<&Served::slot>("slot", "Slug of the slot.", "home-top"),
                   RecordField<Served>{"ad", "The ad; null if no campaign matches.",
                                       [](JsonWriter& to, const Served& served) {
                                           served.ad ? kAd.write(to, *served.ad) : to.null();
                                       },
                                       ad_or_null_schema});

// One transparent pixel.
constexpr std::string_view kPixel{
    "GIF89a\1\0\1\0\x80\0\0\0\0\0\0\0\0\x21\xf9\4\1\0\0\0\0\x2c\0\0\0\0\1\0\1\0\0\2\2D\1\0\x3b",
    43};

// ---------------------------------------------------------------------------- handlers

void read_slot(const Call& call, AdRequest& ad_request, Faults& faults) {
    ad_request.slot = call.query.text("slot").value_or("");
    if (ad_request.slot.empty()) faults.add("slot", FieldCode::Required);
}

void read_user(const Call& call, AdRequest& ad_request, Faults& faults) {
    const auto text = call.query.text("user_id");
    if (!text) return;
    ad_request.user = UserId::parse(*text);
    if (!ad_request.user) faults.add("user_id", FieldCode::InvalidUuid);
}

void read_locale(const Call& call, AdRequest& ad_request, Faults& faults) {
    auto text = call.query.text("locale");
    if (!text) return;
    const auto fault = rules::normalize(rules::CoreField::Locale, *text, Date());
    if (fault) faults.add("locale", *fault, limits_of(rules::CoreField::Locale, *fault));
    if (!text->empty()) ad_request.locale = std::move(*text);
}

void read_tags(const Call& call, AdRequest& ad_request, Faults& faults) {
    const auto text = call.query.text("tags");
    if (!text) return;
    for (const std::string_view entry : split(*text, ',')) {
        std::string tag(trimmed(entry));
        if (tag.empty()) continue;
        compose(tag);
        if (utf8_length(tag) > rules::kLongestAdTag) {
            faults.add("tags", FieldCode::TooLong, longest(rules::kLongestAdTag));
            return;
        }
        ad_request.tags.push_back(std::move(tag));
    }
    if (ad_request.tags.size() > rules::kMostAdTags) {
        faults.add("tags", FieldCode::TooLong, longest(rules::kMostAdTags));
    }
}

AdRequest ad_request_of(const Call& call) {
    AdRequest ad_request;
    Faults faults;
    read_slot(call, ad_request, faults);
    read_user(call, ad_request, faults);
    read_locale(call, ad_request, faults);
    read_tags(call, ad_request, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    ad_request.geo_country = call.request.geo_country;
    return ad_request;
}

auto serve_ad(Call& call) {
    const AdRequest ad_request = ad_request_of(call);
    Served served{ad_request.slot, std::nullopt};
    auto ad = service::serve_ad(call.context, call.worker.ads, call.org(), ad_request,
                                Timestamp::now(), service::ad_chance);
    if (ad) {
        const std::string base = call.context.settings.server.base_url + "/v1/ads/";
        served.ad = ShownAd{std::move(ad->creative), base + "clicks/" + ad->click_token,
                            base + "impressions/" + ad->impression_token};
    }
    return served;
}

// A HEAD request, which link scanners send, is not counted, nor one whose reply a browser fetches
// before the visitor asks for it. Above the rate the visitor still sees the landing page.
Counting counting_of(const Call& call) {
    const bool is_seen = call.request.method != Method::Head && !call.request.is_prefetch;
    return is_seen && !call.is_above_rate ? Counting::Count : Counting::Skip;
}

template <rules::AdTokenKind kKind>
std::optional<OrgId> organization_of_ad(const WorkerState& worker, std::string_view token) {
    return service::organization_of_token(worker.ads, kKind, token);
}

constexpr char kGif[] = "image/gif";

std::string_view record_impression(Call& call) {
    if (!service::redeem_impression(call.context, call.worker.ads, call.parameters.at(0),
                                    counting_of(call))) {
        throw Error(ErrorCode::NotFound);
    }
    return kPixel;
}

std::string follow_click(Call& call) {
    return service::redeem_click(call.context, call.worker.ads, call.parameters.at(0),
                                 counting_of(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kServeQuery = {
    QueryParameter{.name = "slot", .meaning = "Slug of the slot; required."},
    QueryParameter{.name = "user_id", .meaning = "Id of the user who sees the page, if known."},
    QueryParameter{.name = "locale",
                   .meaning = "Locale of the page. If omitted: the member's locale."},
    QueryParameter{
        .name = "tags",
        .meaning = "Tags of the page, separated by commas: at most 20 of 64 characters."},
};
constexpr std::array kNotFound = {ErrorCode::NotFound};

constexpr std::array kAdEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/serve",
        .operation = "serveAd",
        .summary = "Get the ad that a page shows in a slot",
        .description =
            "Chooses the ad for a slot of a page by targeting, limits and weights. ad is null if no "
            "campaign matches; an unknown slot is 404. Load impression_url when the ad is visible "
            "and link it to click_url.",
        .access = Access::TrackingKey,
        .query = kServeQuery,
        .reply = {200, "The ad, or null if no campaign matches."},
        .errors = kNotFound,
        .handler = answers<kServed, serve_ad>,
        .workers = WorkerGroup::Readers},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/impressions/{token}",
        .operation = "recordAdImpression",
        .summary = "Count an ad's impression",
        .description =
            "Counts an impression and returns a transparent pixel. The token comes from serveAd and "
            "is counted once, within 24 hours. A prefetch is not counted, nor a request above the "
            "organization's rate. The pixel is the same whether or not the impression was counted. A changed "
            "token is 404.",
        .access = Access::Open,
        .reply = {200, "A transparent pixel, whether or not the impression was counted."},
        .errors = kNotFound,
        .handler = sends<kGif, record_impression>,
        .organization_of = organization_of_ad<rules::AdTokenKind::Impression>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/clicks/{token}",
        .operation = "followAdClick",
        .summary = "Count an ad's click and redirect to its landing page",
        .description =
            "Counts a click on an ad and redirects to its landing page. The token comes from "
            "serveAd and is counted once, within 24 hours; afterwards, for a prefetch, and above the organization's rate, "
            "it only redirects. A changed token, or one of a deleted creative, is 404.",
        .access = Access::Open,
        .reply = {302, "Redirect to the creative's landing page."},
        .errors = kNotFound,
        .handler = redirects<follow_click>,
        .organization_of = organization_of_ad<rules::AdTokenKind::Click>},
};
static_assert(well_formed(kAdEndpoints, "/v1/ads"));

}  // namespace

std::span<const Endpoint> ad_endpoints() {
    return kAdEndpoints;
}

}  // namespace muster::api
