// The version of a record is its updated_at, which increases with each change. A request may name
// the version that it expects (If-Match).
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace muster::service {

// Throws if the record, which the transaction has locked, has another version. nullopt: there is no
// such record yet.
using VersionCheck = std::function<void(std::optional<Timestamp> updated_at)>;

inline void check_version(const VersionCheck& check, std::optional<Timestamp> updated_at) {
    if (check) check(updated_at);
}

// The version after a change at `now`.
inline Timestamp next_version(Timestamp before, Timestamp now) {
    return std::max(now, before + Milliseconds(1));
}

}  // namespace muster::service
