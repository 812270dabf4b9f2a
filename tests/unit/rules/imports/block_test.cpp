// rules/imports/block.hpp: rows and outcomes are read back from their bytes, and corrupt bytes are
// rejected.
#include "rules/imports/block.hpp"

#include "rules/imports/row_faults.hpp"
#include "rules/members/fields.hpp"

#include "print.hpp"

#include <random>
#include <string>
#include <vector>

using muster::FieldCode;
using muster::MemberId;
using muster::Timestamp;
using muster::UserId;
using namespace muster::rules;

namespace {

std::string block_of_rows(const std::vector<StagedRow>& rows) {
    std::string bytes;
    for (const StagedRow& row : rows) append_row(bytes, row);
    return bytes;
}

StagedRow row(std::uint32_t number, std::initializer_list<std::string_view> texts = {}) {
    StagedRow made;
    made.row_number = number;
    made.user_id = UserId::create();
    made.member_id = MemberId::create();
    std::copy(texts.begin(), texts.end(), made.texts.begin());
    return made;
}

bool is_corrupt(const std::string& bytes) {
    try {
        (void)decode_rows(bytes);
        return false;
    } catch (const CorruptBlock&) {
        return true;
    }
}

bool are_corrupt_outcomes(const std::string& bytes, std::size_t rows) {
    try {
        (void)decode_outcomes(bytes, rows);
        return false;
    } catch (const CorruptBlock&) {
        return true;
    }
}

// One outcome of each kind.
std::vector<RowOutcome> outcomes() {
    return {{RowState::Staged, RowError::None, "", {}},
            {RowState::Valid, RowError::None, "", {}},
            {RowState::Invalid, RowError::DuplicateInFile, "", {}},
            {RowState::Invalid, RowError::AttrUnknownKey, std::string(200, 'k'), {}},
            {RowState::Created, RowError::None, "", UserId::create()},
            {RowState::Attached, RowError::None, "", UserId::create()},
            {RowState::Merged, RowError::None, "", UserId::create()},
            {RowState::Failed, RowError::WriteFailed, "", {}},
            {RowState::Removed, RowError::None, "", UserId::create()},
            {RowState::Detached, RowError::None, "", UserId::create()},
            {RowState::Emptied, RowError::None, "", UserId::create()},
            {RowState::Kept, RowError::ChangedSince, "first_name", UserId::create()}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(import_block)

// ---------------------------------------------------------------------------- numbers

BOOST_AUTO_TEST_CASE(a_block_holds_the_rows_of_five_hundred_numbers) {
    const std::vector<std::array<std::uint32_t, 3>> table = {{1, 0, 0},
                                                             {2, 0, 1},
                                                             {500, 0, 499},
                                                             {501, 1, 0},
                                                             {1000, 1, 499},
                                                             {250'000, 499, 499},
                                                             {2'147'483'647, 4'294'967, 146}};
    for (const auto& [number, block, place] : table) {
        BOOST_TEST(muster::rules::block_of(number) == block);
        BOOST_TEST(index_in_block(number) == static_cast<int>(place));
    }
}

BOOST_AUTO_TEST_CASE(keys_are_ordered_by_block_and_part) {
    BOOST_TEST((BlockKey{0, 1} < BlockKey{1, 0}));
    BOOST_TEST((BlockKey{1, 0} < BlockKey{1, 1}));
    BOOST_TEST((BlockKey{1, 1}.next() > BlockKey{1, 1}));
    BOOST_TEST((BlockKey{1, 1}.next() < BlockKey{2, 0}));
}

// ---------------------------------------------------------------------------- rows

BOOST_AUTO_TEST_CASE(the_fields_of_a_member_become_a_row_with_new_ids) {
    MemberFields fields;
    fields.email = "a@x.test";
    fields.dob = "1990-01-31";
    fields.attributes = R"({"phone":"1"})";
    const StagedRow first = staged_row(7, fields);
    const StagedRow second = staged_row(7, fields);
    BOOST_TEST(first.row_number == 7U);
    BOOST_TEST(first.email() == "a@x.test");
    BOOST_TEST(first.text(CoreField::Dob) == "1990-01-31");
    BOOST_TEST(first.text(CoreField::Country) == "");
    BOOST_TEST(first.attributes() == fields.attributes);
    BOOST_TEST(first.user_id != second.user_id);
    BOOST_TEST(first.member_id != second.member_id);
}

BOOST_AUTO_TEST_CASE(rows_are_read_back_in_order_and_unchanged) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
    const std::string long_text(70'000, 'x');
    const std::vector<StagedRow> rows = {row(1), row(2, {"a@x.test", "", every}),
                                         row(4'294'967'295, {long_text}),
                                         row(3, {"", "", "", "", "", "", "", "", "{}"})};
    const std::string bytes = block_of_rows(rows);
    const auto read = decode_rows(bytes);
    BOOST_TEST_REQUIRE(read.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        BOOST_TEST(read[i].row_number == rows[i].row_number);
        BOOST_TEST(read[i].user_id == rows[i].user_id);
        BOOST_TEST(read[i].member_id == rows[i].member_id);
        BOOST_TEST(read[i].texts == rows[i].texts);
    }
    BOOST_TEST(decode_rows("").empty());
}

BOOST_AUTO_TEST_CASE(the_size_of_a_row_is_computed_before_it_is_written) {
    for (const std::size_t length :
         {0U, 1U, 127U, 128U, 16'383U, 16'384U, 2'097'151U, 2'097'152U}) {
        const std::string text(length, 'x');
        const StagedRow one = row(1, {text, "y"});
        std::string bytes = "before";
        append_row(bytes, one);
        BOOST_TEST(bytes.size() - 6 == encoded_size(one), length);
        BOOST_TEST(decode_rows(std::string_view(bytes).substr(6)).front().email() == text);
    }
}

BOOST_AUTO_TEST_CASE(a_block_truncated_within_a_row_is_corrupt) {
    const std::string first = block_of_rows({row(1, {"a@x.test", "7"})});
    const std::string bytes = first + block_of_rows({row(2, {"b@x.test", std::string(200, 'x')})});
    for (std::size_t length = 1; length < bytes.size(); ++length) {
        BOOST_TEST(is_corrupt(bytes.substr(0, length)) == (length != first.size()), length);
    }
    BOOST_TEST(is_corrupt(bytes + "x"));
}

BOOST_AUTO_TEST_CASE(a_wrong_length_is_corrupt) {
    const std::string head = block_of_rows({row(1)}).substr(0, 36);
    for (const std::string length :
         {"\x7f", "\xff\x7f", "\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\x7f",
          "\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\x01"}) {
        BOOST_TEST(is_corrupt(head + length));
        BOOST_TEST(is_corrupt(head + length + std::string(60, '\0')));
    }
}

BOOST_AUTO_TEST_CASE(erasing_a_person_empties_the_rows_and_keeps_their_positions) {
    const std::vector<StagedRow> rows = {row(1, {"ann@x.test", "7", "Ann"}),
                                         row(2, {"joann@x.test", "8"}),
                                         row(5, {"ann@x.test.org", "ann@x.test"}),
                                         row(9, {"ann@x.test", "", "", "", "", "", "", "", "{}"})};
    const std::string bytes = block_of_rows(rows);
    const Redaction redaction = redact_rows(bytes, "ann@x.test");
    BOOST_TEST(redaction.rows == 2);
    const auto read = decode_rows(redaction.block);
    BOOST_TEST_REQUIRE(read.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        BOOST_TEST(read[i].row_number == rows[i].row_number);
        BOOST_TEST(read[i].user_id == rows[i].user_id);
        BOOST_TEST(read[i].member_id == rows[i].member_id);
        const bool is_hers = rows[i].email() == "ann@x.test";
        BOOST_TEST(read[i].texts == (is_hers ? StagedRow{}.texts : rows[i].texts), i);
    }
    BOOST_TEST(redact_rows(redaction.block, "ann@x.test").rows == 0);
    BOOST_TEST(redact_rows(bytes, "nobody@x.test").block == bytes);
    BOOST_TEST(redact_rows("", "ann@x.test").block.empty());
    BOOST_CHECK_THROW((void)redact_rows(bytes.substr(1), "ann@x.test"), CorruptBlock);
}

BOOST_AUTO_TEST_CASE(redaction_finds_a_malformed_row_by_any_core_field) {
    const std::string faulty = pack_faults({{"email", FieldCode::InvalidEmail}}, "");
    StagedRow by_name = row(1, {"not an address", "", "Ann (ANN@X.test)"});
    StagedRow by_email = row(2, {"Z\u00cb@x.test;ann@X.TEST"});
    StagedRow other = row(3, {"bob@x.test", "", "joann@x.test"});
    StagedRow valid = row(4, {"bob@x.test", "", "ann@x.test"});
    StagedRow longer_before = row(5, {"jo.ann@x.test"});
    StagedRow longer_after = row(6, {"ann@x.test.example"});
    StagedRow sentence = row(7, {"Write to ...ann@x.test."});
    // A valid address is a person's own, whatever it ends with.
    StagedRow equals = row(8, {"x=ann@x.test"});
    for (StagedRow* one :
         {&by_name, &by_email, &other, &longer_before, &longer_after, &sentence, &equals}) {
        one->texts.back() = faulty;
    }
    const std::string bytes = block_of_rows(
        {by_name, by_email, other, valid, longer_before, longer_after, sentence, equals});
    BOOST_TEST(redact_rows(bytes, "ann@x.test").rows == 3);
    BOOST_TEST(redact_rows(bytes, "jo.ann@x.test").rows == 1);
    BOOST_TEST(redact_rows(bytes, "z\u00eb@x.test").rows == 1);
}

// ---------------------------------------------------------------------------- outcomes

BOOST_AUTO_TEST_CASE(outcomes_are_read_back_with_their_keys_and_users) {
    const auto written = outcomes();
    const auto read = decode_outcomes(encode_outcomes(written), written.size());
    BOOST_TEST_REQUIRE(read.size() == written.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
        BOOST_TEST(read[i].state == written[i].state);
        BOOST_TEST(read[i].error == written[i].error);
        BOOST_TEST(read[i].key == written[i].key);
        BOOST_TEST(read[i].user_id == written[i].user_id);
    }
}

BOOST_AUTO_TEST_CASE(the_filled_values_of_a_merged_row_are_read_back) {
    std::vector<FilledRow> table = {{}, {{0b1000001, {}}, Timestamp(1'732'000'000'123)}};
    table.push_back({{0, {false, true, false, false, false, false, false, true}}, Timestamp(5)});
    table.push_back({{0b10, std::vector<bool>(600, true)}, Timestamp(5)});
    for (const FilledRow& filled : table) {
        const std::vector<RowOutcome> written = {
            {RowState::Merged, RowError::None, "", UserId::create(), filled}};
        const auto read = decode_outcomes(encode_outcomes(written), 1).front();
        BOOST_TEST((read.filled == filled));
        BOOST_TEST(read.user_id == written.front().user_id);
        BOOST_TEST(read.key == "");
    }
}

BOOST_AUTO_TEST_CASE(a_merged_row_written_before_version_7_has_no_filled_values) {
    const std::string user(16, 'u');
    const std::string bytes = std::string{5, 0, 0} + user;
    const auto read = decode_outcomes(bytes, 1);
    BOOST_TEST((read.front().state == RowState::Merged));
    BOOST_TEST(!read.front().filled);
    BOOST_TEST(encode_outcomes(read) == bytes);
}

BOOST_AUTO_TEST_CASE(damaged_bytes_of_what_a_row_filled_are_corrupt) {
    const std::string user(16, 'u');
    BOOST_TEST(are_corrupt_outcomes(std::string{5, 0, 1, 1} + user, 1));
    BOOST_TEST(are_corrupt_outcomes(std::string{5, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0} + user, 1));
    BOOST_TEST(are_corrupt_outcomes(std::string{5, 0, 10, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1} + user, 1));
}

BOOST_AUTO_TEST_CASE(a_block_without_outcomes_is_staged) {
    const auto read = decode_outcomes("", 3);
    BOOST_TEST_REQUIRE(read.size() == 3);
    for (const auto& one : read) BOOST_TEST(one.state == RowState::Staged);
    BOOST_TEST(decode_outcomes("", 0).empty());
}

BOOST_AUTO_TEST_CASE(outcomes_for_a_different_number_of_rows_are_corrupt) {
    const std::string bytes = encode_outcomes(outcomes());
    for (const std::size_t rows : {0U, 11U, 13U}) BOOST_TEST(are_corrupt_outcomes(bytes, rows));
    for (std::size_t length = 1; length < bytes.size(); ++length) {
        BOOST_TEST(are_corrupt_outcomes(bytes.substr(0, length), 12), length);
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_state_or_error_is_corrupt) {
    for (int value = 0; value < 256; ++value) {
        const char byte = static_cast<char>(value);
        const bool has_user = (value >= 3 && value <= 5) || (value >= 7 && value <= 10);
        const std::string user(has_user ? 16 : 0, 'u');
        BOOST_TEST(are_corrupt_outcomes(std::string{byte, 0, 0} + user, 1) == (value > 10), value);
        BOOST_TEST(are_corrupt_outcomes(std::string{2, byte, 0}, 1) == (value > 8), value);
    }
}

BOOST_AUTO_TEST_CASE(states_are_counted) {
    const RowCounts counts = count_states(outcomes());
    BOOST_TEST(counts.valid == 1);
    BOOST_TEST(counts.invalid == 2);
    BOOST_TEST(counts.created == 1);
    BOOST_TEST(counts.attached == 1);
    BOOST_TEST(counts.merged == 1);
    BOOST_TEST(counts.failed == 1);
    BOOST_TEST(counts.removed == 1);
    BOOST_TEST(counts.detached == 1);
    BOOST_TEST(counts.emptied == 1);
    BOOST_TEST(counts.kept == 1);
}

BOOST_AUTO_TEST_CASE(corrupt_bytes_are_rejected_or_read_within_their_bounds) {
    std::mt19937 random(1);
    const std::string good = block_of_rows({row(1, {"a@x.test"}), row(2, {"b@x.test", "7"})});
    const std::string encoded = encode_outcomes(outcomes());
    for (int i = 0; i < 20'000; ++i) {
        for (std::string bytes : {good, encoded}) {
            bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
            try {
                for (const auto& one : decode_rows(bytes)) {
                    for (const auto text : one.texts) {
                        BOOST_REQUIRE(text.empty() ||
                                      (text.data() >= bytes.data() &&
                                       text.data() + text.size() <= bytes.data() + bytes.size()));
                    }
                }
                (void)decode_outcomes(bytes, 12);
            } catch (const CorruptBlock&) {  // as declared
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
