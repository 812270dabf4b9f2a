// rules/imports/states.hpp and row_states.hpp: the names of states and errors, and the transitions
// of each state.
#include "rules/imports/states.hpp"
#include "rules/imports/row_states.hpp"

#include "print.hpp"

#include <array>
#include <set>
#include <string>

using muster::rules::ImportState;
using muster::rules::row_error_message;
using muster::rules::RowError;
using muster::rules::RowState;

namespace {

struct StateRow {
    ImportState state;
    std::string_view text;
    bool active;
    bool moving;
    bool cancelable;
    bool undoable = false;
};

constexpr std::array kStates = {
    StateRow{ImportState::Staging, "staging", true, false, true},
    StateRow{ImportState::Validating, "validating", true, true, true},
    StateRow{ImportState::Validated, "validated", true, false, true},
    StateRow{ImportState::Committing, "committing", true, true, false},
    StateRow{ImportState::Completed, "completed", false, false, false, true},
    StateRow{ImportState::Failed, "failed", false, false, false, true},
    StateRow{ImportState::Canceled, "canceled", false, false, false},
    StateRow{ImportState::Undoing, "undoing", true, true, false},
    StateRow{ImportState::Undone, "undone", false, false, false},
};

constexpr std::array<std::pair<RowState, std::string_view>, 11> kRowStates = {{
    {RowState::Staged, "staged"},
    {RowState::Valid, "valid"},
    {RowState::Invalid, "invalid"},
    {RowState::Created, "created"},
    {RowState::Attached, "attached"},
    {RowState::Merged, "merged"},
    {RowState::Failed, "failed"},
    {RowState::Removed, "removed"},
    {RowState::Detached, "detached"},
    {RowState::Emptied, "emptied"},
    {RowState::Kept, "kept"},
}};

constexpr std::array<std::pair<RowError, std::string_view>, 9> kRowErrors = {{
    {RowError::None, ""},
    {RowError::DuplicateInFile, "ROW_DUPLICATE_IN_FILE"},
    {RowError::AttrInvalidValue, "ROW_ATTR_INVALID_VALUE"},
    {RowError::AttrUnknownKey, "ROW_ATTR_UNKNOWN_KEY"},
    {RowError::WriteFailed, "ROW_WRITE_FAILED"},
    {RowError::FieldInvalid, "ROW_FIELD_INVALID"},
    {RowError::ChangedSince, "ROW_CHANGED_SINCE"},
    {RowError::HasEvents, "ROW_HAS_EVENTS"},
    {RowError::NotRecorded, "ROW_NOT_RECORDED"},
}};

}  // namespace

BOOST_AUTO_TEST_SUITE(import_states)

BOOST_AUTO_TEST_CASE(job_states_have_their_contract_names) {
    for (const StateRow& row : kStates) {
        BOOST_TEST(text_of(row.state) == row.text);
        BOOST_TEST(muster::parse<ImportState>(row.text) == row.state, row.text);
    }
    for (const std::string_view text : {"", "Staging", "staging ", "cancelled", "done", "staged"}) {
        BOOST_TEST(!muster::parse<ImportState>(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(an_active_job_occupies_the_slot_of_its_organization) {
    for (const StateRow& row : kStates) BOOST_TEST(is_active(row.state) == row.active, row.text);
}

BOOST_AUTO_TEST_CASE(the_runner_processes_moving_jobs) {
    for (const StateRow& row : kStates)
        BOOST_TEST(is_in_progress(row.state) == row.moving, row.text);
}

BOOST_AUTO_TEST_CASE(a_job_can_be_canceled_until_it_commits) {
    for (const StateRow& row : kStates) {
        BOOST_TEST(can_cancel(row.state) == row.cancelable, row.text);
    }
}

BOOST_AUTO_TEST_CASE(a_job_that_wrote_members_can_be_undone) {
    for (const StateRow& row : kStates) BOOST_TEST(can_undo(row.state) == row.undoable, row.text);
}

BOOST_AUTO_TEST_CASE(cancelable_and_moving_jobs_are_active) {
    for (const StateRow& row : kStates) {
        if (can_cancel(row.state) || is_in_progress(row.state)) {
            BOOST_TEST(is_active(row.state), row.text);
        }
    }
}

BOOST_AUTO_TEST_CASE(row_states_have_their_contract_names) {
    for (const auto& [state, text] : kRowStates) {
        BOOST_TEST(text_of(state) == text);
        BOOST_TEST(muster::parse<RowState>(text) == state, text);
    }
    for (const std::string_view text : {"", "Valid", "ok", "completed", "invalid,valid"}) {
        BOOST_TEST(!muster::parse<RowState>(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(row_errors_have_their_contract_names) {
    for (const auto& [error, text] : kRowErrors) {
        BOOST_TEST(text_of(error) == text);
    }
}

BOOST_AUTO_TEST_CASE(every_row_error_has_its_own_sentence) {
    std::set<std::string> sentences;
    for (const auto& [error, text] : kRowErrors) {
        const std::string sentence = row_error_message(error, "shirt_size");
        BOOST_TEST(sentence.empty() == (error == RowError::None), text);
        sentences.insert(sentence);
    }
    BOOST_TEST(sentences.size() == kRowErrors.size());
}

BOOST_AUTO_TEST_CASE(an_attribute_error_names_its_key_if_known) {
    for (const RowError error : {RowError::AttrInvalidValue, RowError::AttrUnknownKey}) {
        const std::string named = row_error_message(error, "shirt_size");
        const std::string nameless = row_error_message(error, "");
        BOOST_TEST(named.find("shirt_size") != std::string::npos);
        BOOST_TEST(!nameless.empty());
        BOOST_TEST(nameless.find('"') == std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()
