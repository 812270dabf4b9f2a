// What is asked of every engagement event, whoever sends it (docs/api.md "Limits").
#pragma once

#include "base/faults.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <optional>
#include <string>

namespace muster::rules {

inline constexpr std::size_t kMostMetadataBytes = 8192;
inline constexpr Milliseconds kMostAhead{24L * 3600 * 1000};
inline constexpr Milliseconds kMostBehind{30L * 24 * 3600 * 1000};

// `prefix`: of the event's fields, "events[3]." or "".
inline void judge_event(const std::optional<RawJson>& metadata,
                        const std::optional<Timestamp>& occurred_at, Timestamp now,
                        const std::string& prefix, Faults& faults) {
    if (metadata && metadata->text.size() > kMostMetadataBytes) {
        faults.add(prefix + "metadata", FieldCode::TooLong);
    }
    const Timestamp when = occurred_at.value_or(now);
    const bool is_outside = when > now + kMostAhead || when < now - kMostBehind;
    // One that could not be read has been told already.
    if (is_outside && !faults.names(prefix + "occurred_at")) {
        faults.add(prefix + "occurred_at", FieldCode::OutOfRange);
    }
}

}  // namespace muster::rules
