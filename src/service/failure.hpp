// Database failures and costs for the floors above, which do not include db/.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace muster::service {

// Whether a retry may succeed: the database is unreachable, or the transaction lost a lock
// conflict.
[[nodiscard]] bool is_transient_failure(const std::exception& error);

// The message for the operator: one sentence for a known cause, otherwise the error's own text.
[[nodiscard]] std::string explained(const std::exception& error);

// The cost of this thread's statements since the last reset.
struct DatabaseCost {
    int statements = 0;
    std::int64_t microseconds = 0;
    int reruns = 0;
    std::size_t bytes = 0;  // of the texts and blobs that were read
};
DatabaseCost database_cost();
void reset_database_cost();

}  // namespace muster::service
