// db/columns.hpp: one constant defines the SELECT list of a statement and the mapping of its rows.
#include "db/columns.hpp"

#include "db/fixture.hpp"
#include "db/sql_text.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/stored_json.hpp"

#include "print.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace muster;
using db::column;
using db::columns;
using db::DbError;
using db::kSqlText;
using db::SqlText;
using db::SystemSql;
using db::Why;

namespace {

struct Inner {
    std::int64_t number = 0;
    std::string text;
};
struct Row {
    std::optional<Inner> inner;
    rules::Role role = rules::Role::Viewer;
    bool is_good = false;
    std::optional<std::string> note;
    std::string blank;
    std::vector<std::string> tags;
    std::array<bool, 2> flags{};
};

constexpr auto kInner =
    columns<Inner>(column<&Inner::number>("n"), column<&Inner::text>("'a{b}?'"));

constexpr auto row_columns(std::string_view role) {
    return columns<Row>(
        db::nested<&Row::inner>(kInner), column<&Row::role>(role), column<&Row::is_good>("n = ?"),
        column<&Row::note>("NULL"), db::converted<db::or_empty<std::string>, &Row::blank>("NULL"),
        column<&Row::tags>("'[\"x\",\"y\"]'"), db::elements<&Row::flags>({"n > 1", "n > 2"}));
}
constexpr auto kRow = row_columns("'admin'");
constexpr auto kBadRow = row_columns("'unknown'");

constexpr SqlText from_numbers(std::string_view order) {
    return {
        "SELECT {columns} FROM (SELECT 1 AS n UNION ALL SELECT 2) AS t "
        "ORDER BY n ",
        order};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(row_columns_of_statements, test::DatabaseContext)

BOOST_AUTO_TEST_CASE(each_type_is_read_into_its_member) {
    static constexpr SystemSql kAll{"test.all", Why{"numbers of no tenant"}, kRow,
                                    kSqlText<[] { return from_numbers("DESC"); }>};
    const auto rows = database.autocommit([](db::Tx& tx) { return tx.all(kAll, 2); });
    BOOST_TEST_REQUIRE(rows.size() == 2U);
    BOOST_TEST_REQUIRE(rows[0].inner.has_value());
    BOOST_TEST(rows[0].inner->number == 2);
    BOOST_TEST(rows[0].inner->text == "a{b}?");
    BOOST_TEST((rows[0].role == rules::Role::Admin));
    BOOST_TEST(rows[0].is_good);
    BOOST_TEST(!rows[1].is_good);
    BOOST_TEST(!rows[0].note.has_value());
    BOOST_TEST(rows[0].blank == "");
    BOOST_TEST(rows[0].tags == (std::vector<std::string>{"x", "y"}));
    BOOST_TEST(rows[0].flags[0]);
    BOOST_TEST(!rows[0].flags[1]);
}

BOOST_AUTO_TEST_CASE(an_unknown_enum_text_is_rejected) {
    static constexpr SystemSql kBad{"test.bad", Why{"numbers of no tenant"}, kBadRow,
                                    kSqlText<[] { return from_numbers("DESC LIMIT 1"); }>};
    BOOST_CHECK_THROW(database.autocommit([](db::Tx& tx) { return tx.all(kBad, 2); }), DbError);
}

BOOST_AUTO_TEST_CASE(a_stored_array_of_texts_is_read_in_any_format) {
    using Texts = std::vector<std::string>;
    BOOST_TEST(db::texts_of("[]") == Texts());
    BOOST_TEST(db::texts_of("[ ]") == Texts());
    BOOST_TEST(db::texts_of(R"([""])") == Texts({""}));
    BOOST_TEST(db::texts_of(R"(["a","b c","\u00e9"])") == Texts({"a", "b c", "\u00e9"}));
    BOOST_TEST(db::texts_of(R"(["a", "b"])") == Texts({"a", "b"}));
    BOOST_TEST(db::texts_of(R"([ "a" ,"]",","])") == Texts({"a", "]", ","}));
    BOOST_TEST(db::texts_of(R"(["a\"b\\","\u00e9"])") == Texts({"a\"b\\", "\u00e9"}));
    const Texts texts = {"plain", "\"", "\\", "a,b", "[]", "\n", "\x01", "\u00e9", ""};
    BOOST_TEST(db::texts_of(rules::json_of_texts(texts)) == texts);
    for (const Texts& one : {Texts{"x\\"}, Texts{"x", "y\""}, Texts{"\t", "z"}}) {
        BOOST_TEST(db::texts_of(rules::json_of_texts(one)) == one);
    }
    for (const char* damaged : {"",
                                "[",
                                "]",
                                "[\"",
                                "[\"a",
                                "[\"a\"",
                                "[\"a\",",
                                "[\"a\",]",
                                "[\"a\"]x",
                                "[\"a\"]]",
                                "[\"a\" \"b\"]",
                                "\"a\"",
                                "{}",
                                "null",
                                "[,\"a\"]",
                                "[\"a\",,\"b\"]",
                                "[1]",
                                "[null]",
                                "[\"a\",true]",
                                "[[\"a\"]]",
                                "[{}]"}) {
        BOOST_TEST_CONTEXT(damaged) BOOST_CHECK_THROW((void)db::texts_of(damaged), DbError);
    }
}

BOOST_AUTO_TEST_CASE(a_single_value_needs_no_column_list) {
    static constexpr SystemSql kOne{"test.one", Why{"numbers of no tenant"},
                                    "SELECT 5 FROM DUAL WHERE 1 = ?"};
    database.autocommit([](db::Tx& tx) {
        BOOST_TEST(tx.value<std::int64_t>(kOne, 1) == 5);
        BOOST_TEST(tx.exists(kOne, 1));
        BOOST_TEST(!tx.exists(kOne, 2));
        BOOST_TEST((tx.one<std::int64_t>(kOne, 2) == std::nullopt));
        BOOST_TEST(tx.all<std::int64_t>(kOne, 2).empty());
    });
}

BOOST_AUTO_TEST_SUITE_END()
