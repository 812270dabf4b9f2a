// Serves /console/v1/about: what the console shows of this installation (docs/api/limits.md "GET
// /console/v1/about").
#include "api/groups.hpp"
#include "base/config.h"
#include "base/settings.hpp"
#include "rules/engagement/tracking_script.hpp"
#include "service/access/credentials.hpp"
#include "service/imports/limits.hpp"
#include "service/operations/purge.hpp"

namespace muster::api {
namespace {

struct AboutScript {
    std::string url;
    std::string integrity;
};
struct AboutLimits {
    std::int64_t import_rows = 0;
    std::int64_t staged_rows = 0;
    std::int64_t staging_bytes = 0;
    std::int64_t body_bytes = 0;
    std::int64_t staged_bytes_per_day = 0;
    std::int64_t reply_bytes_per_day = 0;
    std::int64_t audit_entries_per_day = 0;
    std::int64_t tracked_bytes_per_day = 0;
    std::int64_t ingested_bytes_per_day = 0;
    std::int64_t member_bytes_per_day = 0;
};
struct AboutRate {
    int per_second = 0;
    int burst = 0;
};
struct AboutRates {
    AboutRate key;
    AboutRate organization;
    AboutRate tracking_key;
};
struct AboutRetention {
    std::int64_t import_days = 0;
    std::int64_t audit_log_days = 0;
    std::optional<std::int64_t> engagement_event_days;
    std::int64_t webhook_event_days = 0;
    std::int64_t revoked_key_days = 0;
};
struct About {
    std::string base_url;
    std::string version;
    AboutScript tracking_script;
    AboutLimits limits;
    AboutRates rates;
    AboutRetention retention;
};

constexpr auto kAboutScript = record<AboutScript>(
    "TrackingScript",
    field<&AboutScript::url>("url", "Address of the tracking script for other sites' pages.",
                             "https://members.example.org/js/muster.js"),
    field<&AboutScript::integrity>("integrity",
                                   "Subresource Integrity of the script, for the attribute of the "
                                   "same name. It changes with each change of the script."));
constexpr auto kAboutLimits = record<AboutLimits>(
    "InstallationLimits",
    field<&AboutLimits::import_rows>("import_rows", "Rows of an import job.", "250000"),
    field<&AboutLimits::staged_rows>("staged_rows", "Rows of a staging call.", "5000"),
    field<&AboutLimits::staging_bytes>("staging_bytes", "Bytes of a staging call.", "16777216"),
    field<&AboutLimits::body_bytes>("body_bytes", "Bytes of the body of most other calls.",
                                    "262144"),
    field<&AboutLimits::staged_bytes_per_day>(
        "staged_bytes_per_day", "Bytes that an organization may stage in a day (UTC).",
        "2147483648"),
    field<&AboutLimits::reply_bytes_per_day>(
        "reply_bytes_per_day",
        "Bytes of replies that are recorded for an organization's Idempotency-Keys in a day (UTC).",
        "4294967296"),
    field<&AboutLimits::audit_entries_per_day>(
        "audit_entries_per_day", "Entries of an organization's audit log in a day (UTC).", "20000"),
    field<&AboutLimits::tracked_bytes_per_day>(
        "tracked_bytes_per_day",
        "Bytes of events that an organization's pages may track in a day (UTC).", "4294967296"),
    field<&AboutLimits::ingested_bytes_per_day>(
        "ingested_bytes_per_day",
        "Bytes of events that an organization's modules may ingest in a day (UTC).", "4294967296"),
    field<&AboutLimits::member_bytes_per_day>(
        "member_bytes_per_day",
        "Bytes of members that are created or changed without an import for an organization in a day "
        "(UTC), with their webhook events.",
        "4294967296"));
constexpr auto kAboutRate =
    record<AboutRate>("Rate", field<&AboutRate::per_second>("per_second", "Requests per second."),
                      field<&AboutRate::burst>("burst", "Maximum burst of requests."));
constexpr auto kAboutRetention = record<AboutRetention>(
    "Retention",
    field<&AboutRetention::import_days>("import_days", "Days from the creation of an import job.",
                                        "30"),
    field<&AboutRetention::audit_log_days>("audit_log_days", "Days of an entry of the audit log.",
                                           "400"),
    field<&AboutRetention::engagement_event_days>(
        "engagement_event_days",
        "Days of an engagement event; null if events are kept until they are deleted.", "400"),
    field<&AboutRetention::webhook_event_days>("webhook_event_days",
                                               "Days of a webhook event and its deliveries.", "30"),
    field<&AboutRetention::revoked_key_days>("revoked_key_days",
                                             "Days for which a revoked key is listed.", "30"));

}  // namespace
}  // namespace muster::api

namespace muster {

template <>
struct JsonType<api::AboutScript> {
    static void write(JsonWriter& to, const api::AboutScript& value) {
        api::kAboutScript.write(to, value);
    }
    static Json::Value schema() { return api::kAboutScript.schema(); }
};
template <>
struct JsonType<api::AboutLimits> {
    static void write(JsonWriter& to, const api::AboutLimits& value) {
        api::kAboutLimits.write(to, value);
    }
    static Json::Value schema() { return api::kAboutLimits.schema(); }
};
template <>
struct JsonType<api::AboutRate> {
    static void write(JsonWriter& to, const api::AboutRate& value) {
        api::kAboutRate.write(to, value);
    }
    static Json::Value schema() { return api::kAboutRate.schema(); }
};
template <>
struct JsonType<api::AboutRates> {
    static constexpr auto kRecord = record<api::AboutRates>(
        "DefaultRates",
        field<&api::AboutRates::key>("key", "Of a key, a module credential or an admin."),
        field<&api::AboutRates::organization>("organization",
                                              "Of all callers of an organization together."),
        field<&api::AboutRates::tracking_key>("tracking_key", "Of a tracking key."));
    static void write(JsonWriter& to, const api::AboutRates& value) { kRecord.write(to, value); }
    static Json::Value schema() { return kRecord.schema(); }
};
template <>
struct JsonType<api::AboutRetention> {
    static void write(JsonWriter& to, const api::AboutRetention& value) {
        api::kAboutRetention.write(to, value);
    }
    static Json::Value schema() { return api::kAboutRetention.schema(); }
};

}  // namespace muster

namespace muster::api {
namespace {

constexpr auto kAbout =
    record<About>("About",
                  field<&About::base_url>("base_url", "Address that API clients use.",
                                          "https://members.example.org"),
                  field<&About::version>("version", "Version of Muster.", "0.1.0"),
                  field<&About::tracking_script>("tracking_script", "The tracking script."),
                  field<&About::limits>("limits", "Limits of a request and of a day."),
                  field<&About::rates>("rates", "Default rates. A key can have its own."),
                  field<&About::retention>("retention", "How long records are kept."));

std::int64_t days_in(Milliseconds span) {
    return span / Milliseconds(std::chrono::days(1));
}

AboutLimits limits_of(const LimitsSettings& limits) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    return {service::kMostImportRows,
            service::kMostStagedAtOnce,
            kStagingBody,
            kSmallBody,
            limits.staged_mib * kMebibyte,
            limits.reply_mib * kMebibyte,
            limits.audit_entries,
            limits.tracked_mib * kMebibyte,
            limits.ingested_mib * kMebibyte,
            limits.member_mib * kMebibyte};
}

AboutRetention retention_of(const JobsSettings& jobs) {
    AboutRetention retention{days_in(service::kImportRetention),
                             jobs.audit_days,
                             {},
                             days_in(service::kWebhookEventLife),
                             days_in(service::kRevokedKeyLife)};
    if (jobs.engagement_days > 0) retention.engagement_event_days = jobs.engagement_days;
    return retention;
}

auto get_about(Call& call) {
    const Settings& settings = call.context.settings;
    const LimitsSettings& limits = settings.limits;
    const std::string& base_url = settings.server.base_url;
    return About{base_url,
                 MUSTER_VERSION,
                 {base_url + std::string(rules::kTrackingScriptPath),
                  std::string(rules::kTrackingScriptIntegrity)},
                 limits_of(limits),
                 {{limits.key_rate, limits.key_burst},
                  {limits.organization_rate, limits.organization_burst},
                  {limits.tracking_rate, limits.tracking_burst}},
                 retention_of(settings.jobs)};
}

constexpr std::array kAboutEndpoints = {
    Endpoint{.method = http::Method::Get,
             .path = "/console/v1/about",
             .operation = "getAbout",
             .summary = "Get the addresses, limits and version of the installation",
             .description =
                 "Returns what a page needs to know about this installation: its addresses, its "
                 "version, limits, default rates and how long records are kept. It is the same for "
                 "every organization.",
             .access = Access::Console,
             .reply = {200, "The installation."},
             .handler = answers<kAbout, get_about>,
             .is_published = false},
};
static_assert(well_formed(kAboutEndpoints, "/console/v1/about"));

}  // namespace

std::span<const Endpoint> about_endpoints() {
    return kAboutEndpoints;
}

}  // namespace muster::api
