#include "rules/imports/states.hpp"

namespace muster::rules {

bool is_active(ImportState state) {
    return can_cancel(state) || state == ImportState::Committing || state == ImportState::Undoing;
}

bool is_in_progress(ImportState state) {
    return state == ImportState::Validating || state == ImportState::Committing ||
           state == ImportState::Undoing;
}

bool can_cancel(ImportState state) {
    return state == ImportState::Staging || state == ImportState::Validating ||
           state == ImportState::Validated;
}

bool can_undo(ImportState state) {
    return state == ImportState::Completed || state == ImportState::Failed;
}

}  // namespace muster::rules
