#include "store/webhooks/endpoint_results.hpp"

#include "store/batches.hpp"

#include <unordered_map>

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;
using rules::RecentResults;
using rules::WebhookEndpoint;

namespace {

// One more than are shown, so that the current hour has a row of its own.
constexpr std::int64_t kSlots = rules::kHoursShown + 1;

std::int64_t hour_of(Timestamp when) {
    return when.milliseconds() / Milliseconds(std::chrono::hours(1)).count();
}

struct ResultsOf {
    EndpointId endpoint;
    RecentResults results;
    std::optional<Timestamp> last_succeeded_at;
};
constexpr auto kResultsOf =
    columns<ResultsOf>(column<&ResultsOf::endpoint>("endpoint_id"),
                       column<&ResultsOf::results, &RecentResults::succeeded>(
                           "CAST(SUM(IF(hour_no > ?, succeeded, 0)) AS SIGNED)"),
                       column<&ResultsOf::results, &RecentResults::failed>(
                           "CAST(SUM(IF(hour_no > ?, failed, 0)) AS SIGNED)"),
                       column<&ResultsOf::results, &RecentResults::failed_attempts>(
                           "CAST(SUM(IF(hour_no > ?, failed_attempts, 0)) AS SIGNED)"),
                       column<&ResultsOf::last_succeeded_at>("MAX(last_succeeded_at)"));

}  // namespace

void add_endpoint_results(db::OrgStore& org, std::span<const EndpointResults> results,
                          Timestamp now) {
    // Assignments run from left to right: hour_no is the last, because the others compare it.
    static constexpr OrgSql kAdd{
        "webhook_endpoint_hours.add",
        "INSERT INTO webhook_endpoint_hours (organization_id, endpoint_id, slot, hour_no, "
        "succeeded, failed, failed_attempts, last_succeeded_at) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?)} "
        "ON DUPLICATE KEY UPDATE "
        "succeeded = IF(hour_no = VALUES(hour_no), succeeded, 0) + VALUES(succeeded), "
        "failed = IF(hour_no = VALUES(hour_no), failed, 0) + VALUES(failed), "
        "failed_attempts = IF(hour_no = VALUES(hour_no), failed_attempts, 0) "
        "+ VALUES(failed_attempts), "
        "last_succeeded_at = COALESCE(VALUES(last_succeeded_at), last_succeeded_at), "
        "hour_no = VALUES(hour_no)"};
    const std::int64_t hour = hour_of(now);
    in_pieces(results, [&](std::span<const EndpointResults> piece) {
        std::vector<Param> params;
        for (const auto& [endpoint, of] : piece) {
            const auto last = of.succeeded > 0 ? std::optional(now) : std::nullopt;
            params.insert(params.end(), {endpoint, hour % kSlots, hour, of.succeeded, of.failed,
                                         of.failed_attempts, last});
        }
        org.execute_bulk(kAdd, piece.size(), params);
    });
}

void read_endpoint_results(db::OrgStore& org, std::span<WebhookEndpoint> endpoints, Timestamp now) {
    static constexpr OrgSql kRead{
        "webhook_endpoint_hours.read", kResultsOf,
        "SELECT {columns} FROM webhook_endpoint_hours FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND endpoint_id IN ({?}) GROUP BY endpoint_id"};
    const std::int64_t before = hour_of(now) - rules::kHoursShown;
    std::unordered_map<EndpointId, WebhookEndpoint*> by_id;
    std::vector<EndpointId> ids;
    for (WebhookEndpoint& endpoint : endpoints) {
        by_id[endpoint.id] = &endpoint;
        ids.push_back(endpoint.id);
    }
    in_batches(std::span<const EndpointId>(ids), [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.insert(params.begin(), {before, before, before});
        for (const ResultsOf& of : org.each_bulk(kRead, count, params)) {
            by_id.at(of.endpoint)->last_24_hours = of.results;
            by_id.at(of.endpoint)->last_succeeded_at = of.last_succeeded_at;
        }
    });
}

void delete_endpoint_results(db::OrgStore& org, EndpointId endpoint) {
    static constexpr OrgSql kDelete{
        "webhook_endpoint_hours.delete",
        "DELETE FROM webhook_endpoint_hours WHERE organization_id = :org AND endpoint_id = ?"};
    org.execute(kDelete, endpoint);
}

}  // namespace muster::store
