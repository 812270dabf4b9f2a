// service/imports/rows.hpp: the result of each row, page by page and as a CSV file that is safe to
// open in a spreadsheet.
#include "service/imports/rows.hpp"

#include "base/csv.hpp"
#include "db/imports.hpp"
#include "service/attributes.hpp"
#include "service/imports/members.hpp"
#include "service/members/list.hpp"

#include <sstream>

using namespace muster;
using rules::RowState;
using test::ImportFixture;
using test::people;
using test::row;

namespace {

struct Rows : ImportFixture {
    std::vector<std::int64_t> numbers(ImportId id, std::int64_t after,
                                      std::optional<RowState> state, int limit) {
        std::vector<std::int64_t> numbers;
        service::RowFilter filter;
        if (state) filter.states.push_back(*state);
        const auto page = service::list_import_rows(context, acme, id, after, filter, limit);
        for (const auto& one : page->rows) numbers.push_back(one.row_number);
        has_more = page->next.has_value();
        return numbers;
    }
    // All rows that match, page by page.
    std::vector<std::int64_t> all_numbers(ImportId id, const service::RowFilter& filter,
                                          int limit) {
        std::vector<std::int64_t> all;
        pages = 0;
        for (std::int64_t after = 0;;) {
            const auto page = service::list_import_rows(context, acme, id, after, filter, limit);
            ++pages;
            for (const auto& one : page->rows) all.push_back(one.row_number);
            if (!page->next) return all;
            BOOST_TEST_REQUIRE(*page->next > after);
            after = *page->next;
        }
    }
    int pages = 0;          // of the last call of all_numbers()
    bool has_more = false;  // of the last page

    std::string report(ImportId id, bool raw = false) {
        std::string text;
        report_page(text, id, {.raw = raw});
        return text;
    }
    // Appends a page, and returns `after` of the next one.
    std::optional<std::int64_t> report_page(std::string& text, ImportId id,
                                            const service::ReportPage& page) {
        return service::write_error_report(context, acme, id, page,
                                           [&](std::string_view piece) { text += piece; });
    }
};

using Numbers = std::vector<std::int64_t>;
constexpr std::string_view kHeader =
    "email,external_id,first_name,last_name,display_name,locale,country,dob,attributes,row_number,"
    "error_code,error_message\r\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_rows, Rows)

// ---------------------------------------------------------------------------- the listing

BOOST_AUTO_TEST_CASE(a_page_reports_whether_more_rows_follow) {
    const ImportId id = staged(people(1, 5));
    BOOST_TEST(numbers(id, 0, {}, 2) == (Numbers{1, 2}));
    BOOST_TEST(has_more);
    BOOST_TEST(numbers(id, 3, {}, 2) == (Numbers{4, 5}));
    BOOST_TEST(!has_more);
    BOOST_TEST(numbers(id, 5, {}, 2).empty());
    BOOST_TEST(!has_more);
    BOOST_TEST(numbers(id, 4'294'967'295, {}, 2).empty());
}

BOOST_AUTO_TEST_CASE(pages_cross_block_boundaries) {
    const ImportId id = staged(people(1, 12, 333));
    Numbers paged;
    for (std::int64_t after = 0;;) {
        const auto page = numbers(id, after, {}, 3);
        paged.insert(paged.end(), page.begin(), page.end());
        if (!has_more) break;
        after = paged.back();
    }
    Numbers expected;
    for (std::int64_t i = 0; i < 12; ++i) expected.push_back(1 + i * 333);
    BOOST_TEST(paged == expected);
}

BOOST_AUTO_TEST_CASE(rows_of_one_state_are_found_across_blocks_without_such_rows) {
    auto all = people(1, 6000);
    all[0].fields.email = all[5998].fields.email = all[5999].fields.email = "same@x.test";
    const ImportId id = validated({all.begin(), all.begin() + 5000});
    BOOST_TEST(numbers(id, 0, RowState::Invalid, 9).empty());
    cancel(id);
    const ImportId next = new_import();
    stage(next, {all.begin(), all.begin() + 5000});
    stage(next, {all.begin() + 5000, all.end()});
    validate(next);
    check_rest(lease());
    BOOST_TEST(numbers(next, 0, RowState::Invalid, 9) == (Numbers{5999, 6000}));
    BOOST_TEST(numbers(next, 5999, RowState::Invalid, 9) == Numbers{6000});
    BOOST_TEST(numbers(next, 0, RowState::Valid, 1) == Numbers{1});
    BOOST_TEST(numbers(next, 5990, RowState::Valid, 99).back() == 5998);
    BOOST_TEST(numbers(next, 0, RowState::Staged, 9).empty());
    BOOST_TEST(numbers(next, 0, RowState::Created, 9).empty());
}

BOOST_AUTO_TEST_CASE(a_page_of_large_rows_is_shortened_and_continued) {
    auto heavy = people(1, 30);
    for (auto& one : heavy) one.fields.attributes = "{\"a\":\"" + std::string(400'000, 'x') + "\"}";
    const ImportId id = staged(heavy);
    const auto first = numbers(id, 0, {}, 30);
    BOOST_TEST(has_more);
    BOOST_TEST(first.size() < 30);
    BOOST_TEST(rows(id).size() == 30);
}

BOOST_AUTO_TEST_CASE(the_last_rows_of_a_block_with_many_parts_are_listed) {
    auto heavy = people(1, 150);
    for (auto& one : heavy) one.fields.attributes = "{\"a\":\"" + std::string(400'000, 'x') + "\"}";
    const ImportId id = new_import();
    for (auto at = heavy.begin(); at != heavy.end(); at += 30) stage(id, {at, at + 30});
    BOOST_TEST(numbers(id, 145, {}, 9) == (Numbers{146, 147, 148, 149, 150}));
    BOOST_TEST(!has_more);
}

BOOST_AUTO_TEST_CASE(a_row_shows_its_payload_with_every_field) {
    auto full = row(1, "a@x.test", R"({"phone":"1","tags":["x"]})");
    full.fields.first_name = "Zo\u00eb \"Z\"";
    const ImportId id = staged({full, row(2, "b@x.test")});
    const auto all = rows(id);
    const auto& one = all.front();
    BOOST_TEST(one.payload ==
               "{\"email\":\"a@x.test\",\"external_id\":null,\"first_name\":\"Zo\u00eb \\\"Z\\\"\","
               "\"last_name\":null,\"display_name\":null,\"locale\":null,\"country\":null,"
               "\"dob\":null,\"attributes\":{\"phone\":\"1\",\"tags\":[\"x\"]}}");
    BOOST_TEST(!one.user_id.has_value());
    BOOST_TEST(one.created_at == one.updated_at);
    BOOST_TEST(all.back().payload.ends_with(R"("attributes":{}})"));
}

BOOST_AUTO_TEST_CASE(rows_of_several_states_are_listed_together) {
    auto all = people(1, 4);
    all[1].fields.email = all[0].fields.email;
    const ImportId id = completed(all);
    using enum RowState;
    BOOST_TEST(all_numbers(id, {{Created, Invalid}, {}}, 9) == (Numbers{1, 2, 3, 4}));
    BOOST_TEST(all_numbers(id, {{Invalid, Failed}, {}}, 9) == (Numbers{2}));
    BOOST_TEST(all_numbers(id, {{Staged, Failed}, {}}, 9).empty());
}

BOOST_AUTO_TEST_CASE(rows_with_one_error_are_listed) {
    auto all = people(1, 5);
    all[1].fields.email = all[0].fields.email;
    all[3].fields.attributes = R"({"hobby":"chess"})";
    const ImportId id = validated(all);
    using enum RowState;
    using rules::RowError;
    BOOST_TEST(all_numbers(id, {{}, RowError::DuplicateInFile}, 9) == (Numbers{2}));
    BOOST_TEST(all_numbers(id, {{}, RowError::AttrUnknownKey}, 9) == (Numbers{4}));
    BOOST_TEST(all_numbers(id, {{Invalid, Valid}, RowError::AttrUnknownKey}, 9) == (Numbers{4}));
    BOOST_TEST(all_numbers(id, {{Failed}, RowError::AttrUnknownKey}, 9).empty());
    BOOST_TEST(all_numbers(id, {{Valid}, RowError::AttrUnknownKey}, 9).empty());
    BOOST_TEST(all_numbers(id, {{}, RowError::WriteFailed}, 9).empty());
}

BOOST_AUTO_TEST_CASE(a_page_examines_a_bounded_number_of_blocks) {
    // Each block has an invalid row, but only the last one has the error.
    auto all = people(1, 600, 500);
    for (auto& one : all) one.fields.attributes = R"({"hobby":"chess"})";
    all.back().fields.attributes.clear();
    all.back().fields.email = all.front().fields.email;
    const ImportId id = validated(all);
    BOOST_TEST(all_numbers(id, {{}, rules::RowError::DuplicateInFile}, 9) ==
               (Numbers{all.back().number}));
    BOOST_TEST(pages == 3);  // of 256 blocks each
}

// ---------------------------------------------------------------------------- the error report

BOOST_AUTO_TEST_CASE(a_report_without_rejected_rows_is_its_header) {
    BOOST_TEST(report(completed(people(1, 3))) == kHeader);
    BOOST_TEST(report(staged(people(1, 3))) == kHeader);
}

BOOST_AUTO_TEST_CASE(a_report_contains_the_invalid_and_failed_rows_in_order) {
    service::enable_attribute(context, acme, "phone", true);
    auto second = row(2, "a@x.test");
    second.fields.first_name = "Ann, \"A\"";
    const ImportId id =
        validated({row(1, "a@x.test"), second, row(700, "b@x.test", R"({"phone":"1"})"),
                   row(900, "c@x.test", R"({"phone":1})")});
    service::enable_attribute(context, acme, "phone", false);
    request_commit(id);
    commit_rest(lease());
    std::istringstream in(report(id));
    CsvReader reader(in, ',');
    std::vector<std::string> cells;
    std::vector<std::vector<std::string>> lines;
    while (reader.next(cells)) lines.push_back(cells);
    BOOST_TEST_REQUIRE(lines.size() == 4);
    for (const auto& line : lines) BOOST_TEST(line.size() == 12);
    BOOST_TEST(lines[1][0] == "a@x.test");
    BOOST_TEST(lines[1][2] == "Ann, \"A\"");
    BOOST_TEST(lines[1][9] == "2");
    BOOST_TEST(lines[1][10] == "ROW_DUPLICATE_IN_FILE");
    BOOST_TEST(lines[2][8] == R"({"phone":"1"})");
    BOOST_TEST(lines[2][9] == "700");
    BOOST_TEST(lines[2][10] == "ROW_ATTR_UNKNOWN_KEY");
    BOOST_TEST(lines[3][9] == "900");
    BOOST_TEST(lines[3][10] == "ROW_ATTR_INVALID_VALUE");
}

BOOST_AUTO_TEST_CASE(a_formula_is_guarded_unless_raw_cells_are_requested) {
    auto twin = row(2, "a@x.test");
    twin.fields.first_name = "=1+1";
    twin.fields.last_name = "'quoted";
    const ImportId id = validated({row(1, "a@x.test"), twin});
    BOOST_TEST(report(id).find(",'=1+1,''quoted,") != std::string::npos);
    BOOST_TEST(report(id, true).find(",=1+1,'quoted,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_pages_of_a_report_have_each_row_once) {
    std::vector<service::NewRow> all;
    for (std::int64_t number = 1; number <= 5000; ++number) {
        all.push_back(row(number, "same@x.test"));
        all.back().fields.display_name = std::string(100, 'x');
    }
    const ImportId id = validated(all);
    const std::string whole = report(id);
    BOOST_TEST(std::count(whole.begin(), whole.end(), '\n') == 5000);  // 4,999 rows, the header
    constexpr std::size_t kPageBytes = 100'000;
    for (const std::size_t examined : {std::size_t{1} << 30U, std::size_t{1}}) {
        std::string joined(kHeader);
        std::optional<std::int64_t> after = 0;
        int parts = 0;
        while (after) {
            std::string page;
            after = report_page(
                page, id, {.after = *after, .most_bytes = kPageBytes, .limits = {8'192, examined}});
            BOOST_TEST_REQUIRE(page.starts_with(kHeader));
            BOOST_TEST(page.size() <= kPageBytes);
            joined += page.substr(kHeader.size());
            ++parts;
        }
        BOOST_TEST((joined == whole));
        BOOST_TEST(parts > 2);
    }
}

BOOST_AUTO_TEST_CASE(a_page_of_a_report_reads_a_bounded_number_of_blocks) {
    auto all = people(1, 20, 500);
    for (auto& one : all) one.fields.email = "same@x.test";
    const ImportId id = validated(all);
    const std::string whole = report(id);
    BOOST_TEST(std::count(whole.begin(), whole.end(), '\n') == 20);  // 19 rows, the header
    std::string first;
    const auto next = report_page(first, id, {.limits = {8, std::size_t{1} << 30U}});
    BOOST_TEST(next.value_or(0) == all[8].number);  // the first row is valid: 8 blocks have errors
    BOOST_TEST(std::count(first.begin(), first.end(), '\n') == 9);
    std::string rest;
    BOOST_TEST(!report_page(rest, id, {.after = next.value_or(0)}).has_value());
    BOOST_TEST((first + rest.substr(kHeader.size()) == whole));
}

BOOST_AUTO_TEST_CASE(a_page_examines_a_row_even_if_its_first_block_has_only_earlier_rows) {
    const ImportId id = validated({row(1, "a@x.test"), row(2, "a@x.test"), row(501, "a@x.test")});
    for (const service::ReadLimits limits : {service::ReadLimits{1, 1}, {1, 1'000}, {8, 1}}) {
        std::string text;
        const auto next = report_page(text, id, {.after = 2, .limits = limits});
        BOOST_TEST(next.value_or(501) == 501);
        BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);  // the header, row 501
    }
}

BOOST_AUTO_TEST_CASE(a_row_that_exceeds_a_page_is_a_page_of_its_own) {
    const ImportId id = validated({row(1, "a@x.test"), row(2, "a@x.test"), row(3, "a@x.test")});
    std::string text;
    BOOST_TEST(report_page(text, id, {.after = 1, .most_bytes = 1}).value_or(0) == 2);
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);
    BOOST_TEST(!report_page(text, id, {.after = 2, .most_bytes = 1}).has_value());
    BOOST_TEST(!report_page(text, id, {.after = 2'147'483'647}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

// ---------------------------------------------------------------------------- members of an import

namespace {

struct Imported : ImportFixture {
    std::vector<std::string> found(const service::MemberFilter& filter, int limit) {
        std::vector<std::string> emails;
        std::string position;
        for (;;) {
            const auto run = service::find_member_run(context, acme, filter, position, limit);
            for (const UserId& user : run.users) {
                emails.push_back(client.value("SELECT email FROM users WHERE id = ?", user));
            }
            if (!run.next) return emails;
            BOOST_TEST_REQUIRE(*run.next != position);
            position = *run.next;
        }
    }
    static service::MemberFilter by(ImportId job) {
        service::MemberFilter filter;
        filter.source = service::members_of_import(job);
        return filter;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_members, Imported)

BOOST_AUTO_TEST_CASE(an_import_lists_the_members_that_it_added) {
    (void)completed({row(1, "merged@example.test")});
    auto rows = people(1, 1203);
    rows.push_back(row(1300, "merged@example.test"));
    const ImportId id = completed(rows);
    std::vector<std::string> expected;
    for (const auto& added : people(1, 1203)) expected.push_back(added.fields.email);
    for (const int limit : {7, 100}) BOOST_TEST(found(by(id), limit) == expected);
    const auto total = service::count_members(context, acme, by(id));
    BOOST_TEST(total.count == 1203);
    BOOST_TEST(total.exact);
}

BOOST_AUTO_TEST_CASE(members_that_were_removed_are_not_listed) {
    const ImportId id = completed(people(1, 3));
    client.execute("DELETE FROM members WHERE email = 'm2@example.test'");
    BOOST_TEST(found(by(id), 10) ==
               (std::vector<std::string>{"m1@example.test", "m3@example.test"}));
    client.execute("UPDATE members SET status = 'locked' WHERE email = 'm3@example.test'");
    auto locked = by(id);
    locked.status = "locked";
    BOOST_TEST(found(locked, 10) == std::vector<std::string>{"m3@example.test"});
    auto both = by(id);
    both.prefix = "m1";
    BOOST_TEST(found(both, 10) == std::vector<std::string>{"m1@example.test"});
    both.email = "m3@example.test";
    BOOST_TEST(found(both, 10).empty());
    BOOST_TEST(found(by(ImportId::create()), 10).empty());
}

// The rows of an undone block whose members the undo left alone: those were no longer its own.
BOOST_AUTO_TEST_CASE(a_list_passes_any_number_of_undone_blocks) {
    std::vector<service::NewRow> rows;
    for (std::int64_t i = 0; i < 40; ++i) {
        rows.push_back(row(i * 500 + 1, "m" + std::to_string(i) + "@example.test"));
    }
    const ImportId id = completed(rows);
    client.execute("UPDATE import_blocks SET state = 'undone' WHERE block_no < 39");
    BOOST_TEST(found(by(id), 10) == std::vector<std::string>{"m39@example.test"});
}

BOOST_AUTO_TEST_SUITE_END()
