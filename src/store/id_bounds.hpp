// Bounds of the ids that were created in a time. Ids are UUIDv7, which begin with their time.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace muster::store {

// The id of that time whose other bytes have this value. A time before 1970 counts as 1970.
inline std::string id_at(Timestamp when, char rest) {
    constexpr std::size_t kTimeBytes = 6;
    std::string id(Uuid::kBytes, rest);
    std::int64_t time = std::max<std::int64_t>(when.milliseconds(), 0);
    for (std::size_t i = kTimeBytes; i-- > 0; time >>= 8) id[i] = static_cast<char>(time & 0xff);
    return id;
}

// An id greater than all ids created up to this time. The margin covers differences between clocks,
// and between the creation of an id and the row's own time.
inline std::string id_after(Timestamp when, Milliseconds margin) {
    return id_at(when + margin, '\xff');
}

// An id smaller than all ids created at this time or later.
inline std::string id_before(Timestamp when, Milliseconds margin) {
    return id_at(when - margin, '\0');
}

}  // namespace muster::store
