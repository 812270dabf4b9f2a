// The checks of `musterctl health`: what works, what does not, and how to fix it
// (docs/operations/monitoring.md "Health").
#pragma once

#include "service/context.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct HealthCheck {
    std::string name;          // "database"
    std::string problem;       // what is wrong and what to do; "" = the check passed
    std::string finding;       // what was found, in some words, or ""
    std::string warning = {};  // well for now, but probably not what the operator intends; or ""
};

// In the order in which problems should be fixed. A check that depends on a failed one is left out,
// such as the mail of a database that does not answer. Throws only for bugs.
std::vector<HealthCheck> check_health(Context& context);

}  // namespace muster::service
