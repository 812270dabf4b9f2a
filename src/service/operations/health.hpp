// What an operator wants to know at a glance: check by check what is well, and what is wrong with
// what mends it (musterctl health; docs/operations/monitoring.md "Health").
#pragma once

#include "service/context.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct HealthCheck {
    std::string name;     // "database"
    std::string problem;  // what is wrong and what to do; "" = it is well
    std::string finding;  // what was seen, in some words; "" = nothing worth saying
};

// In the order in which they are worth mending. What cannot be asked while something else is wrong
// (the mail of a database that is away) is left out. Throws nothing but what is a bug.
std::vector<HealthCheck> check_health(Context& context);

}  // namespace muster::service
