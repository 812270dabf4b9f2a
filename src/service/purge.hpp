// What is kept for a time only, and goes (specification 3.1, 8): import jobs with rows, mapping and
// report 30 days after their creation; recorded replies when they expire.
#pragma once

#include "service/context.hpp"

#include <cstdint>

namespace muster::service {

struct Purged {
    std::int64_t imports = 0;
    std::int64_t blocks = 0;
    std::int64_t idempotency_keys = 0;
    bool any() const { return imports + blocks + idempotency_keys > 0; }
};

// One bounded step of short transactions; call again while it reports any().
Purged purge_step(Context& context);

}  // namespace muster::service
