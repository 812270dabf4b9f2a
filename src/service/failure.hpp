// What the floors above may know of the database's troubles and costs, without knowing the
// database.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace muster::service {

// True for a failure that passes by itself: the database is away, or too busy for this transaction.
[[nodiscard]] bool is_passing_failure(const std::exception& error);

// What an operator is told: one sentence where the cause is known, else the error's own text.
[[nodiscard]] std::string explained(const std::exception& error);

// What this thread's statements cost since the last reset.
struct DatabaseCost {
    int statements = 0;
    std::int64_t microseconds = 0;
    int reruns = 0;
};
DatabaseCost database_cost();
void reset_database_cost();

}  // namespace muster::service
