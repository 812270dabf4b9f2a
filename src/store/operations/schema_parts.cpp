#include "store/operations/schema_parts.hpp"

#include "base/text.hpp"

#include <string_view>
#include <tuple>

namespace muster::store {

using db::SystemSql;
using db::Why;

namespace {

constexpr std::string_view kTablePart = "table ";
constexpr std::string_view kColumnPart = "column ";
constexpr std::string_view kIndexPart = "index ";
constexpr std::string_view kPrimaryName = "PRIMARY";  // as the server names it

constexpr auto kColumnName = db::row<std::string, std::string>("table_name", "column_name");
constexpr auto kIndexName = db::row<std::string, std::string>("table_name", "index_name");

std::string part_name(std::string_view kind, std::string_view table, std::string_view name) {
    return std::string(kind).append(table).append(".").append(name);
}

std::string_view first_word(std::string_view text) {
    return text.substr(0, text.find_first_of(" ,"));
}

// The text after `beginning`; "" if `text` begins otherwise.
std::string_view after(std::string_view text, std::string_view beginning) {
    return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view();
}

// Adds the column or the index that a line of CREATE TABLE defines.
void add_definition(SchemaParts& parts, std::string_view table, std::string_view line) {
    constexpr std::string_view kIndent = "    ";
    const std::string_view definition = after(line, kIndent);
    if (definition.empty() || definition.starts_with(' ')) return;  // continues another line
    if (definition.starts_with("CONSTRAINT ")) return;
    if (definition.starts_with("PRIMARY KEY")) {
        parts.insert(part_name(kIndexPart, table, kPrimaryName));
        return;
    }
    for (const std::string_view beginning : {"UNIQUE KEY ", "KEY "}) {
        const std::string_view named = after(definition, beginning);
        if (named.empty()) continue;
        parts.insert(part_name(kIndexPart, table, first_word(named)));
        return;
    }
    parts.insert(part_name(kColumnPart, table, first_word(definition)));
}

void add_rows(SchemaParts& parts, std::string_view kind,
              const std::vector<std::tuple<std::string, std::string>>& rows) {
    for (const auto& [table, name] : rows) {
        parts.insert(std::string(kTablePart) + table);
        parts.insert(part_name(kind, table, name));
    }
}

}  // namespace

SchemaParts parts_made_by(const std::vector<std::string>& statements) {
    constexpr std::string_view kBeginning = "CREATE TABLE IF NOT EXISTS ";
    SchemaParts parts;
    for (const std::string& statement : statements) {
        const std::string_view named = after(statement, kBeginning);
        if (named.empty()) continue;
        const std::string_view table = first_word(named);
        parts.insert(std::string(kTablePart).append(table));
        for (const std::string_view line : split(statement, '\n')) {
            add_definition(parts, table, line);
        }
    }
    return parts;
}

SchemaParts installed_parts(db::Tx& tx) {
    static constexpr SystemSql kColumns{
        "schema_parts.find_columns", Why{"concerns the schema, no tenant data"}, kColumnName,
        "SELECT {columns} FROM information_schema.columns WHERE table_schema = DATABASE()"};
    static constexpr SystemSql kIndexes{
        "schema_parts.find_indexes", Why{"concerns the schema, no tenant data"}, kIndexName,
        "SELECT DISTINCT {columns} FROM information_schema.statistics "
        "WHERE table_schema = DATABASE()"};
    SchemaParts parts;
    add_rows(parts, kColumnPart, tx.all(kColumns));
    add_rows(parts, kIndexPart, tx.all(kIndexes));
    return parts;
}

std::vector<std::string> missing_parts(const SchemaParts& wanted, const SchemaParts& installed) {
    std::vector<std::string> missing;
    for (const std::string& name : wanted) {
        if (installed.contains(name)) continue;
        const std::string_view place = std::string_view(name).substr(name.find(' ') + 1);
        const std::string table = std::string(kTablePart).append(place.substr(0, place.find('.')));
        if (name == table || installed.contains(table)) missing.push_back(name);
    }
    return missing;
}

}  // namespace muster::store
