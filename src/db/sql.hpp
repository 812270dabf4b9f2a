// SQL statements as constants. The type of a statement says who may run it and what its rows
// contain.
//
// A statement on tenant data is an OrgSql and must contain `:org`, which db/transaction.hpp binds.
// `{columns}` stands for the statement's list (db/columns.hpp). Any other `{…}` marks a group that
// is repeated for each row of a bulk statement, joined by commas: `VALUES {(:org, ?, ?)}`, `IN
// ({?})`. A group of queries names what joins them: `{ UNION ALL (SELECT …)}`.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace muster::db {

inline constexpr std::string_view kColumnsMark = "{columns}";
inline constexpr std::string_view kUnion = " UNION ALL ";

struct Sql {
    std::string_view name;  // "<store>.<verb>_<what>", for logs and errors
    std::string_view text;
    std::span<const std::string_view> columns = {};
};

struct NoColumns {};

// The throw is not a constant expression, so a wrong statement does not compile.
consteval void expect_list(std::string_view text, bool has_list) {
    if ((text.find(kColumnsMark) != std::string_view::npos) != has_list) {
        throw "a statement needs a list of columns if and only if its text has {columns}";
    }
}

// A statement on tenant data. Only OrgStore runs it and binds `:org`.
template <class List = NoColumns>
struct OrgSql : Sql {
    consteval OrgSql(std::string_view statement_name,
                     std::string_view statement) requires std::is_same_v<List, NoColumns>
        : Sql{statement_name, statement} {
        expect_list(statement, false);
        expect_org();
    }
    // `list` must live as long as the program.
    consteval OrgSql(std::string_view statement_name, const List& list, std::string_view statement)
        : Sql{statement_name, statement, list.sql} {
        expect_list(statement, true);
        expect_org();
    }

  private:
    consteval void expect_org() const {
        if (text.find(":org") == std::string_view::npos) throw "an OrgSql must name :org";
    }
};

struct Why {
    std::string_view reason;
};

// A statement on data of no tenant or of all tenants. `why` gives the reason for that.
template <class List = NoColumns>
struct SystemSql : Sql {
    consteval SystemSql(std::string_view statement_name, Why why,
                        std::string_view statement) requires std::is_same_v<List, NoColumns>
        : Sql{statement_name, statement} {
        expect_list(statement, false);
        expect_reason(why);
    }
    // `list` must live as long as the program.
    consteval SystemSql(std::string_view statement_name, Why why, const List& list,
                        std::string_view statement)
        : Sql{statement_name, statement, list.sql} {
        expect_list(statement, true);
        expect_reason(why);
    }

  private:
    consteval void expect_reason(Why why) const {
        if (why.reason.size() < 10) throw "a SystemSql needs a reason for not using :org";
        if (text.find(":org") != std::string_view::npos) throw "this is an OrgSql";
        for (const std::string_view column : columns) {
            if (column.find(":org") != std::string_view::npos) throw "this is an OrgSql";
        }
    }
};

}  // namespace muster::db
