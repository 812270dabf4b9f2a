// The result of a staged row.
#pragma once

#include "base/ids.hpp"
#include "rules/imports/states.hpp"

#include <string>

namespace muster::rules {

struct RowOutcome {
    RowState state = RowState::Staged;
    RowError error = RowError::None;
    std::string key;  // the key of the invalid attribute, or ""
    UserId user_id;   // for created, attached and merged rows

    bool has_user() const {
        return state == RowState::Created || state == RowState::Attached ||
               state == RowState::Merged;
    }
};

}  // namespace muster::rules
