// The result of a staged row.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/imports/row_states.hpp"
#include "rules/members/filled_values.hpp"

#include <optional>
#include <string>

namespace muster::rules {

// What a merged row filled, and when.
struct FilledRow {
    FilledValues values;
    Timestamp at;  // the epoch if nothing was filled

    bool operator==(const FilledRow&) const = default;
};

struct RowOutcome {
    RowState state = RowState::Staged;
    RowError error = RowError::None;
    // The key of the invalid attribute, or the path of the value that was changed since, or "".
    std::string key;
    UserId user_id;  // for rows that were committed
    // For merged rows; nullopt if the program that committed the row did not record it.
    std::optional<FilledRow> filled = std::nullopt;

    bool has_user() const { return is_committed(state) || is_undone(state); }
};

}  // namespace muster::rules
