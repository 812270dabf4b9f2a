// The schema itself: which version the database has, and making it.
#pragma once

#include "db/transaction.hpp"
#include "rules/operations/schema_fit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The version that this program was written for.
inline constexpr int kSchemaVersion = 6;
// From this version on a schema says which programs may work with it.
inline constexpr int kFirstToNamePrograms = 6;

// nullopt: the database has no schema of ours; version 0: one that was not finished.
std::optional<rules::SchemaRecord> schema_record(db::Tx& tx);
// That the schema has reached this version.
void record_schema(db::Tx& tx, const rules::SchemaRecord& reached, Timestamp now);
// The statement that changes nothing, and fails as any change of the schema would for who has not
// the right to.
inline constexpr std::string_view kChangeNothing = "ALTER TABLE schema_version COMMENT = ''";
// That the schema of that version, of those that can say so, is going to want this program or a
// newer one.
void require_program(db::Tx& tx, int version, int oldest_program);

// Holds off other migrations of this database for as long as this connection lives or until
// unlock_schema; waits so long for one that holds it. False when it still does.
[[nodiscard]] bool lock_schema(db::Tx& tx, int patience_seconds);
void unlock_schema(db::Tx& tx);
// No statement of this connection waits longer than that for a table that others use. Meanwhile
// whoever comes after it waits behind it.
void wait_briefly_for_tables(db::Tx& tx, int seconds);

// What the line "-- oldest program: N" of a schema file says; nullopt when it has none. Throws
// std::runtime_error for one that is no number.
std::optional<int> oldest_program_in(std::string_view file);
// The statements of a schema file, comments taken out; each ends with ';' at a line's end.
std::vector<std::string> statements_of(std::string_view file);
std::string create_database_statement(std::string_view name);

}  // namespace muster::store
