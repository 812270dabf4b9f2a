// Figures of the whole installation, for /metrics and the operator.
#pragma once

#include "service/context.hpp"

#include <string>

namespace muster::service {

// Jobs in motion, mail and webhooks that wait, how connections stand, in Prometheus' text format;
// muster_database_up tells whether they could be asked for.
std::string job_metrics(Context& context);

// What the operator should know: "" unless an import waits for minutes for a runner.
std::string import_problem(Context& context);
// The same unless webhooks to an endpoint that does not fail wait for
// minutes.
std::string webhook_problem(Context& context);
// The same unless connections wait for many minutes to be refreshed.
std::string connection_problem(Context& context);

}  // namespace muster::service
