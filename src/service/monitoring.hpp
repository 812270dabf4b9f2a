// Figures of the whole installation, for /metrics and the operator.
#pragma once

#include "service/context.hpp"

#include <string>

namespace muster::service {

// Jobs in motion and mail that waits, in Prometheus' text format; muster_database_up tells whether
// they could be asked for.
std::string job_metrics(Context& context);

}  // namespace muster::service
