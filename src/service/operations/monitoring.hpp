// Metrics and problems of the whole installation, for /metrics and the operator.
#pragma once

#include "service/context.hpp"

#include <string>

namespace muster::service {

// Metrics of jobs, queued mail, webhooks and connections in Prometheus' text format.
// muster_database_up is 0, and the others are absent, if the database is unavailable.
std::string job_metrics(Context& context);

// A message for the operator if an import has waited for a runner for more than two minutes,
// otherwise "".
std::string import_problem(Context& context);
// The same for webhooks to endpoints that do not fail.
std::string webhook_problem(Context& context);
// Whether deliveries were dropped lately.
std::string webhook_warning(Context& context);
// The same for connections whose refresh is more than ten minutes overdue.
std::string connection_problem(Context& context);

}  // namespace muster::service
