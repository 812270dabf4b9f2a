// The JSON of an organization's summary.
#pragma once

#include "base/record.hpp"
#include "rules/organization/summary.hpp"

namespace muster {

// The JSON of a struct that is a field of another one: a record of its own.
template <class Owner>
struct NestedRecord {
    static void write(JsonWriter& to, const Owner& value) {
        JsonType<Owner>::kRecord.write(to, value);
    }
    static Json::Value schema() { return JsonType<Owner>::kRecord.schema(); }
};

template <>
struct JsonType<rules::BoundedCount> : NestedRecord<rules::BoundedCount> {
    static constexpr auto kRecord = record<rules::BoundedCount>(
        "BoundedCount",
        field<&rules::BoundedCount::count>("count", "The number, counted up to 10,000.", "42"),
        field<&rules::BoundedCount::exact>(
            "exact", "false: there may be more; count is the least number.", "true"));
};

template <>
struct JsonType<rules::MemberCounts> : NestedRecord<rules::MemberCounts> {
    static constexpr auto kRecord = record<rules::MemberCounts>(
        "MemberCounts", field<&rules::MemberCounts::active>("active", "Active members."),
        field<&rules::MemberCounts::locked>("locked", "Locked members."),
        field<&rules::MemberCounts::changed_in_7_days>(
            "changed_in_7_days", "Members that were created or changed in the last 7 days."));
};

template <>
struct JsonType<rules::ActiveImport> : NestedRecord<rules::ActiveImport> {
    static constexpr auto kRecord = record<rules::ActiveImport>(
        "ActiveImport", field<&rules::ActiveImport::id>("id", "Id of the job."),
        field<&rules::ActiveImport::state>("state", "State of the job.").of([] {
            return one_of({"staging", "validating", "validated", "committing", "undoing"});
        }),
        field<&rules::ActiveImport::file_name>("file_name", "Name of the file.", "members.csv"),
        field<&rules::ActiveImport::staged_rows>("staged_rows", "Number of staged rows."),
        field<&rules::ActiveImport::processed_rows>(
            "processed_rows", "Number of rows that the current state has processed."),
        field<&rules::ActiveImport::invalid_rows>("invalid_rows",
                                                  "Number of rows with errors that were found."),
        field<&rules::ActiveImport::created_at>("created_at", "Time when the job was created."));
};

template <>
struct JsonType<rules::TeamCounts> : NestedRecord<rules::TeamCounts> {
    static constexpr auto kRecord = record<rules::TeamCounts>(
        "TeamCounts", field<&rules::TeamCounts::owners>("owners", "Seats of owners."),
        field<&rules::TeamCounts::admins>("admins", "Seats of admins."),
        field<&rules::TeamCounts::viewers>("viewers", "Seats of viewers."),
        field<&rules::TeamCounts::invited_owners>("invited_owners",
                                                  "Invitations of owners that are valid."),
        field<&rules::TeamCounts::invited_others>(
            "invited_others", "Invitations of admins and viewers that are valid."));
};

template <>
struct JsonType<rules::KeyCounts> : NestedRecord<rules::KeyCounts> {
    static constexpr auto kRecord = record<rules::KeyCounts>(
        "KeyCounts", field<&rules::KeyCounts::api_keys>("api_keys", "API keys."),
        field<&rules::KeyCounts::tracking_keys>("tracking_keys", "Tracking keys."),
        field<&rules::KeyCounts::content_keys>("content_keys", "Content keys."),
        field<&rules::KeyCounts::module_credentials>("module_credentials",
                                                     "Credentials of modules."));
};

template <>
struct JsonType<rules::EndpointCounts> : NestedRecord<rules::EndpointCounts> {
    static constexpr auto kRecord = record<rules::EndpointCounts>(
        "EndpointCounts",
        field<&rules::EndpointCounts::active>("active",
                                              "Active endpoints whose last attempt did "
                                              "not fail."),
        field<&rules::EndpointCounts::failing>("failing",
                                               "Active endpoints whose last attempt failed."),
        field<&rules::EndpointCounts::paused>("paused", "Paused endpoints."),
        field<&rules::EndpointCounts::disabled>("disabled", "Disabled endpoints."));
};

template <>
struct JsonType<rules::ConnectionCounts> : NestedRecord<rules::ConnectionCounts> {
    static constexpr auto kRecord = record<rules::ConnectionCounts>(
        "ConnectionCounts",
        field<&rules::ConnectionCounts::pending>("pending", "Connections that wait for consent."),
        field<&rules::ConnectionCounts::connected>("connected", "Connections that work."),
        field<&rules::ConnectionCounts::expired>("expired", "Connections whose tokens expired."),
        field<&rules::ConnectionCounts::revoked>("revoked",
                                                 "Connections that the provider revoked."),
        field<&rules::ConnectionCounts::error>("error", "Connections that failed."));
};

template <>
struct JsonType<rules::ArticleCounts> : NestedRecord<rules::ArticleCounts> {
    static constexpr auto kRecord = record<rules::ArticleCounts>(
        "ArticleCounts",
        field<&rules::ArticleCounts::published>("published", "Published articles."),
        field<&rules::ArticleCounts::scheduled>("scheduled", "Articles that will be published."),
        field<&rules::ArticleCounts::draft>("draft", "Drafts."));
};

template <>
struct JsonType<rules::AdTotals> : NestedRecord<rules::AdTotals> {
    static constexpr auto kRecord = record<rules::AdTotals>(
        "AdTotals", field<&rules::AdTotals::impressions>("impressions", "Counted impressions."),
        field<&rules::AdTotals::clicks>("clicks", "Counted clicks."));
};

namespace rules {

inline constexpr auto kOrganizationSummary = record<OrganizationSummary>(
    "OrganizationSummary",
    field<&OrganizationSummary::organization_id>("organization_id", "Id of the organization."),
    field<&OrganizationSummary::members>("members", "Numbers of members."),
    field<&OrganizationSummary::active_import>(
        "active_import", "The import job that is not finished; null if there is none."),
    field<&OrganizationSummary::team>("team", "Numbers of seats and invitations by role."),
    field<&OrganizationSummary::enabled_attributes>("enabled_attributes",
                                                    "Number of enabled attributes."),
    field<&OrganizationSummary::valid_keys>("valid_keys", "Numbers of valid keys, by kind."),
    field<&OrganizationSummary::keys_expiring_in_30_days>(
        "keys_expiring_in_30_days", "Numbers of valid keys that expire within 30 days, by kind."),
    field<&OrganizationSummary::webhook_endpoints>("webhook_endpoints",
                                                   "Numbers of webhook endpoints by state."),
    field<&OrganizationSummary::connections>("connections", "Numbers of connections by status."),
    field<&OrganizationSummary::articles>("articles", "Numbers of articles by status."),
    field<&OrganizationSummary::ads_in_7_days>(
        "ads_in_7_days",
        "What the ads of the organization did today (UTC) and on the six days before."));

}  // namespace rules

}  // namespace muster
