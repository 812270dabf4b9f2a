// Serves /v1/ads…: the ad that a page shows in a slot, and what comes back of it by signed tokens
// (specification 4.6, docs/ads.md "Ads"). Slots, campaigns and creatives are the console's.
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "rules/members/core_fields.hpp"
#include "service/ads/serving.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::AdCreative;
using service::AdQuestion;
using service::Counting;
using service::ServedAd;

// ---------------------------------------------------------------------------- replies

// An ad as a page shows it.
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
                   RecordField<Served>{"ad", "The ad; null if no ad fits.",
                                       [](JsonWriter& to, const Served& served) {
                                           served.ad ? kAd.write(to, *served.ad) : to.null();
                                       },
                                       ad_or_null_schema});

// One transparent pixel.
constexpr std::string_view kPixel{
    "GIF89a\1\0\1\0\x80\0\0\0\0\0\0\0\0\x21\xf9\4\1\0\0\0\0\x2c\0\0\0\0\1\0\1\0\0\2\2D\1\0\x3b",
    43};

// ---------------------------------------------------------------------------- handlers

void read_slot(const Call& call, AdQuestion& question, Faults& faults) {
    question.slot = call.query.text("slot").value_or("");
    if (question.slot.empty()) faults.add("slot", FieldCode::Required);
}

void read_user(const Call& call, AdQuestion& question, Faults& faults) {
    const auto text = call.query.text("user_id");
    if (!text) return;
    question.user = UserId::parse(*text);
    if (!question.user) faults.add("user_id", FieldCode::InvalidUuid);
}

void read_locale(const Call& call, AdQuestion& question, Faults& faults) {
    auto text = call.query.text("locale");
    if (!text) return;
    const auto fault = rules::normalise(rules::CoreField::Locale, *text, Date());
    if (fault) faults.add("locale", *fault);
    if (!text->empty()) question.locale = std::move(*text);
}

void read_tags(const Call& call, AdQuestion& question, Faults& faults) {
    const auto text = call.query.text("tags");
    if (!text) return;
    for (const std::string_view entry : split(*text, ',')) {
        const std::string_view tag = trimmed(entry);
        if (tag.empty()) continue;
        if (utf8_length(tag) > rules::kLongestAdTag) {
            faults.add("tags", FieldCode::TooLong);
            return;
        }
        question.tags.emplace_back(tag);
    }
    if (question.tags.size() > rules::kMostAdTags) faults.add("tags", FieldCode::TooLong);
}

AdQuestion question_of(const Call& call) {
    AdQuestion question;
    Faults faults;
    read_slot(call, question, faults);
    read_user(call, question, faults);
    read_locale(call, question, faults);
    read_tags(call, question, faults);
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    question.geo_country = call.request.geo_country;
    return question;
}

auto serve_ad(Call& call) {
    const AdQuestion question = question_of(call);
    Served served{question.slot, std::nullopt};
    auto ad = service::serve_ad(call.context, call.worker.ads, call.org(), question,
                                Timestamp::now(), service::ad_chance);
    if (ad) {
        const std::string base = call.context.settings.server.base_url + "/v1/ads/";
        served.ad = ShownAd{std::move(ad->creative), base + "clicks/" + ad->click_token,
                            base + "impressions/" + ad->impression_token};
    }
    return served;
}

// What looks at links before a person does must not count.
Counting counting_of(const Call& call) {
    return call.request.method == Method::Head ? Counting::Looks : Counting::Counts;
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
    QueryParameter{.name = "slot", .meaning = "The slot's slug; required."},
    QueryParameter{.name = "user_id", .meaning = "Whom the page is shown to, if it knows."},
    QueryParameter{.name = "locale", .meaning = "The page's; else the member's counts."},
    QueryParameter{.name = "tags",
                   .meaning = "The page's, with commas between: at most 20 of 64 characters."},
};
constexpr std::array kNotFound = {ErrorCode::NotFound};

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/serve",
        .operation = "serveAd",
        .summary = "Get the ad that a page shows in a slot",
        .description =
            "Chooses the ad for a slot of a page. Targeting, limits and weights decide; ad is "
            "null if no campaign fits; an unknown slot is 404. Load impression_url when the ad is "
            "visible and link it to click_url.",
        .access = Access::TrackingKey,
        .query = kServeQuery,
        .reply = {200, "The ad; null where none fits."},
        .errors = kNotFound,
        .handler = answers<kServed, serve_ad>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/impressions/{token}",
        .operation = "recordAdImpression",
        .summary = "Count an ad as seen, once",
        .description =
            "Counts that an ad was seen and returns a transparent pixel. The token comes from "
            "serveAd. The pixel is the same whether or not the impression counted; a token counts "
            "once, within 24 hours. A changed token is 404.",
        .access = Access::Open,
        .reply = {200, "A transparent pixel, whether it counted or not."},
        .errors = kNotFound,
        .handler = sends<kGif, record_impression>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/ads/clicks/{token}",
        .operation = "followAdClick",
        .summary = "Count an ad as clicked, once, and go where it leads",
        .description =
            "Counts a click on an ad and redirects to its landing page. The token comes from "
            "serveAd and counts once, within 24 hours; afterwards it only redirects. A changed "
            "token, or one of a deleted creative, is 404.",
        .access = Access::Open,
        .reply = {302, "To the creative's landing page."},
        .errors = kNotFound,
        .handler = redirects<follow_click>},
};
static_assert(well_formed(kEndpoints, "/v1/ads"));

}  // namespace

std::span<const Endpoint> ad_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
