// Every list and look-up of store/ reads its rows and little more, whatever the size of the
// organization and the age of the statistics. A statement that is not measured fails the last test.
#include "db/read_costs.hpp"

#include "rules/members/member.hpp"
#include "service/members/list.hpp"

#include "print.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

using namespace muster;
using test::ReadCosts;

namespace {

constexpr int kMembers = 20'000;
// Fewer rows than most pages have.
constexpr int kFirstMembers = 40;

struct Statement {
    std::string name;
    std::string definition;
};

// The statements `OrgSql kFind{"imports.find", …};` of a source file.
std::vector<Statement> statements_in(std::string_view source) {
    std::vector<Statement> found;
    for (std::size_t at = 0; (at = source.find("Sql k", at)) != std::string_view::npos; ++at) {
        const std::size_t begin = source.find('{', at);
        const std::size_t name = source.find('"', begin) + 1;
        const std::size_t end = source.find("};", begin);
        found.push_back({std::string(source.substr(name, source.find('"', name) - name)),
                         std::string(source.substr(begin, end - begin))});
    }
    return found;
}

std::vector<Statement> statements_of_the_store() {
    std::vector<Statement> all;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_root() + "/src/store")) {
        if (!entry.is_regular_file()) continue;
        const auto file = std::filesystem::relative(entry.path(), test::source_root());
        for (Statement& statement : statements_in(test::source_text(file.string()))) {
            all.push_back(std::move(statement));
        }
    }
    return all;
}

// On the server's state and the schema, lists of whole tables, and writes to named rows.
constexpr std::array<std::string_view, 15> kOther{"schema.version",
                                                  "schema.version_and_program",
                                                  "accounts.other_rights",
                                                  "server.settings",
                                                  "server.oldest_transaction",
                                                  "organizations.list",
                                                  "mail_outbox.count",
                                                  "webhook_queue.list_totals",
                                                  "organizations.find_named",
                                                  "secrets.write",
                                                  "engagement_events.insert",
                                                  "engagement_events.insert_ingested",
                                                  "members.insert",
                                                  "members.fill",
                                                  "members.update"};

bool is_other(const Statement& statement) {
    return std::find(kOther.begin(), kOther.end(), statement.name) != kOther.end();
}

// Whether the statement can find several rows, so that the optimizer has a choice. A statement that
// a function composes may be one.
bool finds_several_rows(const Statement& statement) {
    static constexpr std::array<std::string_view, 7> kSigns{
        " IN ({", "ORDER BY", "LIMIT", "COUNT(*)", "JOIN ", "EXISTS", "kSqlText<"};
    return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
        return statement.definition.find(sign) != std::string::npos;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_costs)

BOOST_AUTO_TEST_CASE(a_statement_reads_few_entries_of_tables_that_were_opened_empty) {
    ReadCosts database;
    database.run_all_calls();
    database.fill(database.acme, 1, kMembers);
    database.fill(database.umbrella, 1, kFirstMembers);
    database.check_all_calls();
}

BOOST_AUTO_TEST_CASE(a_statement_reads_few_entries_of_tables_that_were_opened_small) {
    ReadCosts database;
    database.fill(database.acme, 1, kFirstMembers);
    database.fill(database.umbrella, 1, kFirstMembers);
    database.client->run("FLUSH TABLES");
    database.run_all_calls();
    database.fill(database.acme, kFirstMembers + 1, kMembers);
    database.check_all_calls();
}

// The page of GET /v1/users?limit=100, after members were imported into an empty database.
BOOST_AUTO_TEST_CASE(a_page_of_users_reads_few_entries_after_the_first_import) {
    constexpr int kLimit = 100;
    ReadCosts database;
    const auto page = [&] {
        return service::list_members(*database.context, database.acme, {}, "", kLimit);
    };
    BOOST_TEST(page().members.empty());
    database.import_members(kMembers);
    const auto before = database.entries_read();
    BOOST_TEST(page().members.size() == std::size_t{kLimit});
    BOOST_TEST(database.entries_read() - before <= 2 * kLimit + test::kEnds);
}

BOOST_AUTO_TEST_CASE(a_total_reads_few_entries_more_than_its_limit) {
    constexpr int kLimit = 500;
    ReadCosts database;
    database.fill(database.acme, 1, kMembers);
    std::vector<service::MemberFilter> filters(4);
    filters[1].status = "active";
    filters[2].updated_since = Timestamp(0);
    filters[3].prefix = "p";  // three indexes are merged, as for a page
    for (const auto& filter : filters) {
        const auto count = [&] {
            return service::count_members(*database.context, database.acme, filter, kLimit).count;
        };
        BOOST_TEST(count() == kLimit);
        const auto before = database.entries_read();
        BOOST_TEST(count() == kLimit);
        const int share = filter.prefix ? 12 : 1;
        BOOST_TEST(database.entries_read() - before <= share * kLimit + test::kEnds + share);
    }
}

BOOST_AUTO_TEST_CASE(every_list_and_look_up_of_the_store_is_measured) {
    std::set<std::string, std::less<>> measured;
    for (const auto& call : test::all_measured_calls()) {
        measured.insert(call.statements.begin(), call.statements.end());
    }
    std::set<std::string, std::less<>> defined;
    for (const Statement& statement : statements_of_the_store()) {
        defined.insert(statement.name);
        if (!finds_several_rows(statement) || is_other(statement)) continue;
        BOOST_TEST(measured.contains(statement.name), statement.name << " is not measured");
    }
    BOOST_TEST(defined.size() > 200U);
    for (const auto& name : measured) {
        // The texts of these are composed by templates.
        if (name.starts_with("organization_rows.delete_")) continue;
        BOOST_TEST(defined.contains(name), name << " is unknown");
    }
    for (const auto name : kOther) BOOST_TEST(defined.contains(name), name << " is unknown");
}

// The measured reads depend on the server and its version, the hint does not. MariaDB 10.11 accepts
// no hint in a DELETE. A text composed by a function has its hint elsewhere.
BOOST_AUTO_TEST_CASE(every_list_and_look_up_by_several_values_names_its_index) {
    int named = 0;
    for (const Statement& statement : statements_of_the_store()) {
        const std::string& text = statement.definition;
        const auto has = [&](const char* sign) { return text.find(sign) != std::string::npos; };
        if (is_other(statement) || has("DELETE FROM") || has("kSqlText<")) continue;
        if (!has(" IN ({") && !has("ORDER BY")) continue;
        BOOST_TEST(has("FORCE INDEX ("), statement.name << " does not name its index");
        ++named;
    }
    BOOST_TEST(named > 50);
}

BOOST_AUTO_TEST_SUITE_END()
