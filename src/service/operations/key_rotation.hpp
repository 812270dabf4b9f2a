// Rotation of the installation's key: what rests sealed under the previous one is sealed anew
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
    std::int64_t current = 0;     // were under the current key already
    std::int64_t unreadable = 0;  // under neither key, or damaged: left as they are
};

// Works in short transactions; interrupted, it goes on where it is run again. Noted in the audit
// log of the installation.
std::vector<Resealed> rotate_secrets(Context& context);

}  // namespace muster::service
