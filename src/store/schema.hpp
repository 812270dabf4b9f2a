// The schema itself: which version the database has, and making it.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The version that this program was written for.
inline constexpr int kSchemaVersion = 5;

// nullopt: the database has no schema of ours.
std::optional<int> schema_version(db::Tx& tx);
void record_schema_version(db::Tx& tx, int version, Timestamp now);
// Holds off other migrations of this database for as long as this connection lives or until
// unlock_schema. False when another one holds it.
[[nodiscard]] bool lock_schema(db::Tx& tx);
void unlock_schema(db::Tx& tx);
// The statements of a schema file, comments taken out; each ends with ';' at a line's end.
std::vector<std::string> statements_of(std::string_view file);
std::string create_database_statement(std::string_view name);

}  // namespace muster::store
