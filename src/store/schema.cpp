#include "store/schema.hpp"

#include "base/text.hpp"

#include <stdexcept>
#include <utility>

namespace muster::store {

using db::SystemSql;
using db::Why;

std::optional<int> schema_version(db::Tx& tx) {
    static constexpr SystemSql kTable{
        "schema.find_table", Why{"about the schema, no tenant's data"},
        "SELECT 1 FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name = 'schema_version'"};
    static constexpr SystemSql kVersion{
        "schema.version", Why{"about the schema, no tenant's data"},
        "SELECT version FROM schema_version ORDER BY version DESC LIMIT 1"};
    if (!tx.query(kTable).next()) return std::nullopt;
    auto rows = tx.query(kVersion);
    if (!rows.next()) return 0;
    return static_cast<int>(rows.integer(1));
}

void record_schema_version(db::Tx& tx, int version, Timestamp now) {
    static constexpr SystemSql kRecord{
        "schema.record", Why{"about the schema, no tenant's data"},
        "INSERT INTO schema_version (version, applied_at) VALUES (?, ?)"};
    tx.execute(kRecord, version, now);
}

bool lock_schema(db::Tx& tx) {
    // Names of locks belong to the whole server, and have at most 64 characters.
    static constexpr SystemSql kLock{
        "schema.lock", Why{"about the schema, no tenant's data"},
        "SELECT GET_LOCK(CONCAT('muster.schema.', MD5(DATABASE())), 0)"};
    auto rows = tx.query(kLock);
    return rows.next() && rows.optional_integer(1) == 1;
}

void unlock_schema(db::Tx& tx) {
    static constexpr SystemSql kUnlock{
        "schema.unlock", Why{"about the schema, no tenant's data"},
        "SELECT RELEASE_LOCK(CONCAT('muster.schema.', MD5(DATABASE())))"};
    tx.query(kUnlock);
}

std::vector<std::string> statements_of(std::string_view file) {
    std::vector<std::string> statements;
    std::string statement;
    for (std::string_view line : split(file, '\n')) {
        line = line.substr(0, line.find("--"));
        while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
        if (line.empty()) continue;
        statement += line;
        statement += '\n';
        if (line.back() == ';') statements.push_back(std::exchange(statement, {}));
    }
    return statements;
}

std::string create_database_statement(std::string_view name) {
    // The name is the operator's own, but it stands in the statement's text.
    if (name.empty() || name.find_first_of("`\\") != std::string_view::npos) {
        throw std::invalid_argument("database.name cannot be used as a name");
    }
    return "CREATE DATABASE IF NOT EXISTS `" + std::string(name) +
           "` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
}

}  // namespace muster::store
