// Serves /healthz, /readyz and /metrics, for the machines that look after this one; nginx lets only
// the loopback through.
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

// The process answers.
Health get_health(Call&) {
    return {};
}

// The database answers, and its schema is this program's.
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

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/healthz",
        .operation = "getHealth",
        .summary = "Whether the process answers",
        .description =
            "Says that a worker process answers. It does not touch the database. nginx answers "
            "404 to other machines.",
        .access = Access::Open,
        .reply = {200, "It does."},
        .handler = answers<kHealth, get_health>,
        .is_local = true},
    Endpoint{
        .method = Method::Get,
        .path = "/readyz",
        .operation = "getReadiness",
        .summary = "Whether the database answers and has the right schema",
        .description =
            "Says that the database answers and its schema fits this program. Otherwise 503 with "
            "details.reason. nginx answers 404 to other machines.",
        .access = Access::Open,
        .reply = {200, "It does."},
        .errors = kReadinessErrors,
        .handler = answers<kHealth, get_readiness>,
        .is_local = true},
    Endpoint{.method = Method::Get,
             .path = "/metrics",
             .operation = "getMetrics",
             .summary = "Figures in the Prometheus text format",
             .description =
                 "Returns counters and gauges of this machine for Prometheus. nginx answers 404 to "
                 "other machines.",
             .access = Access::Open,
             .reply = {200, "The figures."},
             .handler = sends<kPrometheus, get_metrics>,
             .is_local = true},
};
static_assert(well_formed(kEndpoints, "/"));

}  // namespace

std::span<const Endpoint> health_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
