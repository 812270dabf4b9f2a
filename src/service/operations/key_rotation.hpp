// Rotates the installation's key: re-encrypts values that use the previous key
// (docs/operations/secrets.md "Rotate the installation key").
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::service {

struct Resealed {
    std::string what;  // "second factors"
    std::int64_t resealed = 0;
    std::int64_t current = 0;     // already encrypted with the current key
    std::int64_t unreadable = 0;  // encrypted with another key or damaged; not changed
};

// Works in short transactions; after an interruption, run it again. Audited in the log of the
// installation.
std::vector<Resealed> rotate_secrets(Context& context);

}  // namespace muster::service
