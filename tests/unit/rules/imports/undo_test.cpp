// rules/imports/undo.hpp: an undo takes back what a row wrote and was not changed since, and keeps
// the rest.
#include "rules/imports/undo.hpp"

#include "rules/attributes.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::rules;

namespace {

const Timestamp kCommit(1'000);
const Timestamp kLater(2'000);
constexpr std::size_t kCountry = 5;  // its place in kTextFields

// A row and the member as its commit made it.
struct Imported {
    StagedRow row;
    Member member;
    RowOutcome outcome;

    explicit Imported(RowState state) {
        row.row_number = 1;
        row.user_id = UserId::create();
        row.member_id = MemberId::create();
        row.texts = {"a@x.test", "", "Ann", "", "", "", "DE", "", R"({"size":"M","vip":true})"};
        member.user_id = outcome.user_id = row.user_id;
        member.member_id = row.member_id;
        member.email = "a@x.test";
        member.first_name = "Ann";
        member.country = "DE";
        member.attributes = attribute_document(row.attributes(), Provenance::Import, kCommit);
        member.status = "active";
        member.created_at = member.updated_at = kCommit;
        outcome.state = state;
    }

    // As if the member had existed, and the row had filled the country and the attribute "vip".
    static Imported merged() {
        Imported made(RowState::Merged);
        made.member.member_id = MemberId::create();
        made.member.created_at = Timestamp(1);
        made.member.attributes =
            R"({"size":["M","api",1],"vip":[true,"import",1000],"zip":["1","api",1]})";
        made.outcome.filled =
            FilledRow{{static_cast<std::uint8_t>(1U << kCountry), {false, true}}, kCommit};
        return made;
    }

    RowUndo undo(bool has_events = false) const {
        return undo_row(row, outcome, &member, has_events);
    }
    // "kept ROW_CHANGED_SINCE country"
    std::string result(bool has_events = false) const {
        const RowOutcome after = undo(has_events).outcome;
        std::string text(text_of(after.state));
        if (after.error != RowError::None) text += " " + std::string(text_of(after.error));
        if (!after.key.empty()) text += " " + after.key;
        return text;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(import_undo)

BOOST_AUTO_TEST_CASE(an_unchanged_member_is_removed_or_detached) {
    BOOST_TEST(Imported(RowState::Created).result() == "removed");
    BOOST_TEST(Imported(RowState::Attached).result() == "detached");
    const Imported imported(RowState::Created);
    BOOST_TEST(imported.undo().outcome.user_id == imported.row.user_id);
    BOOST_TEST(!imported.undo().emptied);
}

BOOST_AUTO_TEST_CASE(a_later_time_of_change_alone_keeps_no_member) {
    Imported imported(RowState::Created);
    imported.member.updated_at = kLater;  // another import filled values and was undone
    BOOST_TEST(imported.result() == "removed");
}

BOOST_AUTO_TEST_CASE(a_changed_member_is_kept_with_the_path_of_the_first_change) {
    const auto result_of = [](const auto& change) {
        Imported imported(RowState::Created);
        change(imported.member);
        return imported.result();
    };
    BOOST_TEST(result_of([](Member& m) { m.first_name = "Anna"; }) ==
               "kept ROW_CHANGED_SINCE first_name");
    BOOST_TEST(result_of([](Member& m) { m.country.reset(); }) == "kept ROW_CHANGED_SINCE country");
    BOOST_TEST(result_of([](Member& m) { m.dob = "1990-01-31"; }) == "kept ROW_CHANGED_SINCE dob");
    BOOST_TEST(result_of([](Member& m) { m.status = "locked"; }) ==
               "kept ROW_CHANGED_SINCE status");
    BOOST_TEST(result_of([](Member& m) {
                   m.attributes =
                       *changed_document(m.attributes, R"({"size":"L"})", Provenance::Api, kLater);
               }) == "kept ROW_CHANGED_SINCE attributes.size");
    BOOST_TEST(result_of([](Member& m) {
                   m.attributes =
                       *changed_document(m.attributes, R"({"age":7})", Provenance::Api, kLater);
               }) == "kept ROW_CHANGED_SINCE attributes.age");
    BOOST_TEST(result_of([](Member& m) {
                   m.attributes =
                       *changed_document(m.attributes, R"({"vip":null})", Provenance::Api, kLater);
               }) == "kept ROW_CHANGED_SINCE attributes.vip");
    BOOST_TEST(result_of([](Member& m) { m.attributes = "[]"; }) ==
               "kept ROW_CHANGED_SINCE attributes");
}

BOOST_AUTO_TEST_CASE(the_order_of_the_attributes_is_no_change) {
    Imported imported(RowState::Created);
    imported.member.attributes = R"({"vip":[true,"import",1000],"size":["M","import",1000]})";
    BOOST_TEST(imported.result() == "removed");
}

BOOST_AUTO_TEST_CASE(a_member_with_events_is_kept) {
    BOOST_TEST(Imported(RowState::Created).result(true) == "kept ROW_HAS_EVENTS");
    BOOST_TEST(Imported(RowState::Attached).result(true) == "kept ROW_HAS_EVENTS");
    BOOST_TEST(Imported::merged().result(true) == "emptied");
}

BOOST_AUTO_TEST_CASE(a_row_without_its_member_keeps_its_state) {
    for (const RowState state : {RowState::Created, RowState::Attached, RowState::Merged}) {
        const Imported imported(state);
        const auto undo = undo_row(imported.row, imported.outcome, nullptr, false);
        BOOST_TEST(undo.outcome.state == state);
        BOOST_TEST(undo.outcome.user_id == imported.row.user_id);
    }
    Imported again(RowState::Created);
    again.member.member_id = MemberId::create();
    BOOST_TEST(again.result() == "created");
    Imported merged = Imported::merged();
    merged.member.created_at = kLater;
    BOOST_TEST(merged.result() == "merged");
}

BOOST_AUTO_TEST_CASE(rows_that_were_not_committed_keep_their_state) {
    for (const RowState state : {RowState::Staged, RowState::Valid, RowState::Invalid,
                                 RowState::Failed, RowState::Removed, RowState::Kept}) {
        BOOST_TEST(Imported(state).undo().outcome.state == state);
    }
}

BOOST_AUTO_TEST_CASE(filled_values_that_are_still_the_same_are_emptied) {
    const Imported merged = Imported::merged();
    const auto undo = merged.undo();
    BOOST_TEST(merged.result() == "emptied");
    BOOST_TEST_REQUIRE(undo.emptied.has_value());
    BOOST_TEST(!undo.emptied->country);
    BOOST_TEST(undo.emptied->first_name.value_or("") == "Ann");
    BOOST_TEST(undo.emptied->attributes == R"({"size":["M","api",1],"zip":["1","api",1]})");
}

BOOST_AUTO_TEST_CASE(a_filled_value_that_was_changed_is_kept_and_the_others_are_emptied) {
    Imported merged = Imported::merged();
    merged.member.country = "FR";
    BOOST_TEST(merged.result() == "kept ROW_CHANGED_SINCE country");
    const auto undo = merged.undo();
    BOOST_TEST_REQUIRE(undo.emptied.has_value());
    BOOST_TEST(undo.emptied->country.value_or("") == "FR");
    BOOST_TEST(undo.emptied->attributes == R"({"size":["M","api",1],"zip":["1","api",1]})");

    merged.member.attributes = R"({"vip":[false,"api",2000]})";
    BOOST_TEST(merged.result() == "kept ROW_CHANGED_SINCE country");
    BOOST_TEST(!merged.undo().emptied);
    merged.member.country = "DE";
    BOOST_TEST(merged.result() == "kept ROW_CHANGED_SINCE attributes.vip");
}

BOOST_AUTO_TEST_CASE(filled_values_that_were_emptied_since_leave_nothing_to_take_back) {
    Imported merged = Imported::merged();
    merged.member.country.reset();
    merged.member.attributes = "{}";
    BOOST_TEST(merged.result() == "merged");
}

BOOST_AUTO_TEST_CASE(a_merged_row_that_filled_nothing_keeps_its_state) {
    Imported merged = Imported::merged();
    merged.outcome.filled = FilledRow{};
    BOOST_TEST(merged.result() == "merged");
}

BOOST_AUTO_TEST_CASE(a_merged_row_of_an_older_program_is_kept) {
    Imported merged = Imported::merged();
    merged.outcome.filled.reset();
    BOOST_TEST(merged.result() == "kept ROW_NOT_RECORDED");
}

BOOST_AUTO_TEST_CASE(only_committed_rows_are_counted) {
    const auto outcomes = [](std::initializer_list<RowState> states) {
        std::vector<RowOutcome> made;
        for (const RowState state : states) made.push_back({state, RowError::None, "", {}});
        return made;
    };
    using enum RowState;
    const auto counts =
        count_undo(outcomes({Created, Created, Attached, Merged, Merged, Invalid, Failed}),
                   outcomes({Removed, Kept, Detached, Emptied, Merged, Invalid, Failed}));
    BOOST_TEST(counts.removed == 1);
    BOOST_TEST(counts.detached == 1);
    BOOST_TEST(counts.emptied == 1);
    BOOST_TEST(counts.kept == 1);
    BOOST_TEST(counts.unaffected == 1);
    BOOST_TEST(counts.rows() == 5);
}

BOOST_AUTO_TEST_CASE(a_sample_is_scaled_to_all_rows) {
    const ImportUndo sample{.removed = 900, .kept = 100};
    const auto all = scaled(sample, 250'000);
    BOOST_TEST(all.removed == 225'000);
    BOOST_TEST(all.kept == 25'000);
    BOOST_TEST(all.is_estimate);
    BOOST_TEST(!scaled(sample, 1'000).is_estimate);
    BOOST_TEST(scaled({}, 1'000).rows() == 0);
}

BOOST_AUTO_TEST_CASE(scaled_counts_add_up_to_all_rows) {
    const ImportUndo even{.removed = 500, .kept = 500};
    BOOST_TEST(scaled(even, 20'001).rows() == 20'001);
    const ImportUndo thirds{.removed = 1, .detached = 1, .emptied = 1};
    BOOST_TEST(scaled(thirds, 4).rows() == 4);
    BOOST_TEST(scaled(thirds, 100).rows() == 100);
}

BOOST_AUTO_TEST_SUITE_END()
