// Serves /healthz, /readyz and /metrics for monitoring; nginx restricts them to the loopback.
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "service/operations/monitoring.hpp"
#include "service/operations/schema.hpp"

namespace muster::api {
namespace {

using http::Method;

struct Health {
    std::string status = "ok";
};
constexpr auto kHealth = record<Health>(
    "Health", field<&Health::status>("status", "Always ok.").of([] { return one_of({"ok"}); }));

Health get_health(Call&) {
    return {};
}

// The database answers and its schema is compatible.
auto get_readiness(Call& call) {
    const auto report = service::check_readiness(call.context);
    if (report.state != service::Readiness::Ready) {
        throw Error(ErrorCode::ServiceUnavailable).detail("reason", report.problem).retry_after(1);
    }
    return Health{};
}

constexpr char kPrometheus[] = "text/plain; version=0.0.4; charset=utf-8";

std::string get_metrics(Call& call) {
    return call.worker.metrics.text() + service::job_metrics(call.context);
}

constexpr std::array kReadinessErrors = {ErrorCode::ServiceUnavailable};

constexpr std::array kHealthEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/healthz",
        .operation = "getHealth",
        .summary = "Check whether the process answers",
        .description =
            "Reports that a worker process answers. It does not use the database. nginx replies "
            "404 to other machines.",
        .access = Access::Open,
        .reply = {200, "The process answers."},
        .handler = answers<kHealth, get_health>,
        .is_local = true},
    Endpoint{
        .method = Method::Get,
        .path = "/readyz",
        .operation = "getReadiness",
        .summary = "Check whether the database answers and has a compatible schema",
        .description =
            "Reports that the database answers and its schema is compatible with this program. "
            "Otherwise 503 with details.reason. nginx replies 404 to other machines.",
        .access = Access::Open,
        .reply = {200, "The database answers and the schema is compatible."},
        .errors = kReadinessErrors,
        .handler = answers<kHealth, get_readiness>,
        .is_local = true},
    Endpoint{.method = Method::Get,
             .path = "/metrics",
             .operation = "getMetrics",
             .summary = "Get metrics in the Prometheus text format",
             .description =
                 "Returns counters and gauges of this machine for Prometheus. nginx replies 404 to "
                 "other machines.",
             .access = Access::Open,
             .reply = {200, "The metrics."},
             .handler = sends<kPrometheus, get_metrics>,
             .is_local = true},
};
static_assert(well_formed(kHealthEndpoints, "/"));

}  // namespace

std::span<const Endpoint> health_endpoints() {
    return kHealthEndpoints;
}

}  // namespace muster::api
