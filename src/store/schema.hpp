// The schema itself: which version the database has, and making it.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The version that this program was written for.
inline constexpr int kSchemaVersion = 2;

// nullopt: the database has no schema of ours.
std::optional<int> schema_version(db::Tx& tx);
void record_schema_version(db::Tx& tx, int version, Timestamp now);
// The statements of a schema file, comments taken out; each ends with ';' at a line's end.
std::vector<std::string> statements_of(std::string_view file);
std::string create_database_statement(std::string_view name);

}  // namespace muster::store
