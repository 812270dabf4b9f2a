// The schema: its version in the database, and its creation.
#pragma once

#include "db/transaction.hpp"
#include "rules/operations/schema_fit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The schema version that this program was written for.
inline constexpr int kSchemaVersion = 8;
// From this version on, a schema names the oldest program that can work with it.
inline constexpr int kFirstVersionWithPrograms = 6;

// nullopt: the database has no schema of Muster. Version 0: creation was not finished.
std::optional<rules::SchemaRecord> schema_record(db::Tx& tx);
// Records that the schema has reached this version.
void record_schema(db::Tx& tx, const rules::SchemaRecord& reached, Timestamp now);
// A statement without effect that fails if the user lacks the privilege to change the schema.
inline constexpr std::string_view kNoOpChange = "ALTER TABLE schema_version COMMENT = ''";
// Records, if the schema is of version 6 or later, that it requires this program or a newer one.
void require_program(db::Tx& tx, int version, int oldest_program);

// Blocks other migrations of this database until unlock_schema() or the end of this connection.
// Waits at most `timeout_seconds`. False if another connection still holds the lock.
[[nodiscard]] bool lock_schema(db::Tx& tx, int timeout_seconds);
void unlock_schema(db::Tx& tx);
// Limits how long a statement of this connection waits for a table lock. While it waits, later
// statements of other connections wait behind it.
void limit_table_wait(db::Tx& tx, int seconds);

// The number in the line "-- oldest program: N" of a schema file; nullopt if there is no such line.
// Throws std::runtime_error if it is not a number.
std::optional<int> oldest_program_in(std::string_view file);
// The statements of a schema file, without comments. A statement ends with ';' at the end of a
// line. Throws std::runtime_error if the last one does not.
std::vector<std::string> statements_of(std::string_view file);
std::string create_database_statement(std::string_view name);

}  // namespace muster::store
