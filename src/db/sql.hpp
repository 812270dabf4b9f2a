// SQL statements as constants: who may run one is part of its type.
// A statement on tenant data is an OrgSql and must name `:org`; db/transaction.hpp binds it. `{…}`
// marks a group that is repeated for each row of a bulk statement, joined by commas: `VALUES
// {(:org, ?, ?)}`, `IN ({?})`.
#pragma once

#include <cstddef>
#include <string_view>

namespace muster::db {

struct Sql {
    std::string_view name;  // "<store>.<verb>_<what>": in logs and errors
    std::string_view text;
};

// On tenant data: runs only through OrgStore, which binds `:org` itself.
struct OrgSql : Sql {
    consteval OrgSql(std::string_view statement_name, std::string_view statement)
        : Sql{statement_name, statement} {
        if (statement.find(":org") == std::string_view::npos) {
            throw "an OrgSql must name :org";  // not a constant expression: does not compile
        }
    }
};

struct Why {
    std::string_view reason;
};

// On data of no tenant or of all of them: carries the reason why that is right.
struct SystemSql : Sql {
    consteval SystemSql(std::string_view statement_name, Why why, std::string_view statement)
        : Sql{statement_name, statement} {
        if (why.reason.size() < 10) throw "a SystemSql must say why it names no organization";
        if (statement.find(":org") != std::string_view::npos) throw "this is an OrgSql";
    }
};

}  // namespace muster::db
