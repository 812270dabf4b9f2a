// Deletes data after its retention time (docs/operations/erasure.md "What is kept, and how long").
// The table in purge.cpp has one row for each kind.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::service {

inline constexpr Milliseconds kWebhookEventLife = std::chrono::days(30);

struct PurgeCount {
    std::string_view name;
    std::int64_t rows = 0;
};

// The number of deleted rows of each kind, in the order of the table.
struct Purged {
    std::vector<PurgeCount> counts;

    bool any() const;
    // Throws std::out_of_range if the table does not have the name.
    std::int64_t operator[](std::string_view name) const;
};

// Runs one bounded step of short transactions. Call it again while any() is true.
Purged purge_step(Context& context);

}  // namespace muster::service
