// The tables, columns and indexes of the schema: those of a schema file, and those of the database.
#pragma once

#include "db/transaction.hpp"

#include <set>
#include <string>
#include <vector>

namespace muster::store {

// As phrases: "table users", "column users.email", "index users.PRIMARY".
using SchemaParts = std::set<std::string>;

// What the CREATE TABLE statements of a schema file make. Each definition of a table begins on a
// line of its own, indented by four spaces.
SchemaParts parts_made_by(const std::vector<std::string>& statements);
// What the database has. Needs a privilege on each table.
SchemaParts installed_parts(db::Tx& tx);
// The parts of `wanted` that `installed` lacks, in order. The parts of an absent table are left
// out.
std::vector<std::string> missing_parts(const SchemaParts& wanted, const SchemaParts& installed);

}  // namespace muster::store
