// What is kept for a time only, and then deleted (docs/operations/erasure.md "What is kept, and how
// long"). The table in purge.cpp has a row for each kind.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::service {

struct PurgeCount {
    std::string_view name;
    std::int64_t rows = 0;
};

// How many rows of each kind were deleted, in the order of the table.
struct Purged {
    std::vector<PurgeCount> counts;

    bool any() const;
    // Throws std::out_of_range where the table has no such name.
    std::int64_t operator[](std::string_view name) const;
};

// One bounded step of short transactions; call again while it reports any().
Purged purge_step(Context& context);

}  // namespace muster::service
