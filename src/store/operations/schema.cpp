#include "store/operations/schema.hpp"

#include "base/text.hpp"

#include <stdexcept>
#include <utility>

namespace muster::store {

using db::column;
using db::columns;
using db::or_empty;
using db::SystemSql;
using db::Why;
using rules::SchemaRecord;

namespace {

constexpr auto kTable = db::row<std::int64_t, std::int64_t>(
    "COUNT(*)", "COUNT(CASE WHEN column_name = 'oldest_program' THEN 1 END)");
constexpr auto record_columns(std::string_view oldest_program) {
    return columns<SchemaRecord>(column<&SchemaRecord::version>("version"),
                                 column<&SchemaRecord::oldest_program>(oldest_program));
}
constexpr auto kFirstRecord = record_columns("NULL");
constexpr auto kRecordColumns = record_columns("oldest_program");

}  // namespace

std::optional<rules::SchemaRecord> schema_record(db::Tx& tx) {
    static constexpr SystemSql kColumns{
        "schema.find_table", Why{"concerns the schema, no tenant data"}, kTable,
        "SELECT {columns} FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = 'schema_version'"};
    static constexpr SystemSql kVersion{
        "schema.version", Why{"concerns the schema, no tenant data"}, kFirstRecord,
        "SELECT {columns} FROM schema_version ORDER BY version DESC LIMIT 1"};
    static constexpr SystemSql kRecord{
        "schema.version_and_program", Why{"concerns the schema, no tenant data"}, kRecordColumns,
        "SELECT {columns} FROM schema_version ORDER BY version DESC LIMIT 1"};
    const auto [columns, programs] = tx.value(kColumns);
    if (columns == 0) return std::nullopt;
    return or_empty(programs > 0 ? tx.one(kRecord) : tx.one(kVersion));
}

void record_schema(db::Tx& tx, const rules::SchemaRecord& reached, Timestamp now) {
    static constexpr SystemSql kVersion{
        "schema.record", Why{"concerns the schema, no tenant data"},
        "INSERT INTO schema_version (version, applied_at) VALUES (?, ?)"};
    static constexpr SystemSql kRecord{
        "schema.record_with_program", Why{"concerns the schema, no tenant data"},
        "INSERT INTO schema_version (version, applied_at, oldest_program) VALUES (?, ?, ?)"};
    if (reached.version < kFirstVersionWithPrograms) {
        tx.execute(kVersion, reached.version, now);
    } else {
        tx.execute(kRecord, reached.version, now, reached.oldest_program);
    }
}

void require_program(db::Tx& tx, int version, int oldest_program) {
    static constexpr SystemSql kRequire{
        "schema.require_program", Why{"concerns the schema, no tenant data"},
        "UPDATE schema_version SET oldest_program = ? "
        "WHERE version = ? AND (oldest_program IS NULL OR oldest_program < ?)"};
    if (version < kFirstVersionWithPrograms) return;
    tx.execute(kRequire, oldest_program, version, oldest_program);
}

bool lock_schema(db::Tx& tx, int timeout_seconds) {
    // Lock names are global to the server and have at most 64 characters.
    static constexpr SystemSql kLock{
        "schema.lock", Why{"concerns the schema, no tenant data"},
        "SELECT GET_LOCK(CONCAT('muster.schema.', LEFT(SHA2(DATABASE(), 256), 32)), ?)"};
    return tx.value<std::optional<std::int64_t>>(kLock, timeout_seconds) == 1;
}

void unlock_schema(db::Tx& tx) {
    static constexpr SystemSql kUnlock{
        "schema.unlock", Why{"concerns the schema, no tenant data"},
        "SELECT RELEASE_LOCK(CONCAT('muster.schema.', LEFT(SHA2(DATABASE(), 256), 32)))"};
    tx.exists(kUnlock);
}

void limit_table_wait(db::Tx& tx, int seconds) {
    tx.run("SET SESSION lock_wait_timeout = " + std::to_string(seconds));
}

std::optional<int> oldest_program_in(std::string_view file) {
    constexpr std::string_view kMark = "-- oldest program:";
    for (const std::string_view line : split(file, '\n')) {
        if (!line.starts_with(kMark)) continue;
        const auto number = parse_number<int>(trimmed_ascii(line.substr(kMark.size())));
        if (!number) {
            throw std::runtime_error('"' + std::string(line) +
                                     R"(" names no number; write "-- oldest program: N")");
        }
        return number;
    }
    return std::nullopt;
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
    if (!statement.empty()) {
        throw std::runtime_error(
            "the last statement does not end with ';': the file may be cut off; install it again");
    }
    return statements;
}

std::string create_database_statement(std::string_view name) {
    // The name comes from the operator, but it is part of the statement's text.
    if (name.empty() || name.find_first_of("`\\") != std::string_view::npos) {
        throw std::invalid_argument("database.name must not be empty or contain ` or \\");
    }
    return "CREATE DATABASE IF NOT EXISTS `" + std::string(name) +
           "` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
}

}  // namespace muster::store
