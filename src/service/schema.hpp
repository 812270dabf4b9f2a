// Making the schema, and the question whether this program and the database fit together.
#pragma once

#include "service/context.hpp"
#include "service/database.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::service {

int supported_schema_version();
// nullopt: there is no schema yet.
std::optional<int> installed_schema_version(Context& context);

// Makes the database (through `without_database`, a connection that names none) and the schema from
// settings.sql_directory, as the configuration's user. False when the schema stood already, which
// asks for no right to make anything. Throws std::runtime_error for a missing file.
bool initialize_schema(db::Database& without_database, Context& context);
// Makes the schema in the database that `database` leads to; likewise.
bool make_schema(db::Database& database, const Settings& settings);
// The statements that do it.
std::vector<std::string> schema_statements(const Settings& settings);

struct AppliedUpgrade {
    int version = 0;
    std::size_t statements = 0;
    std::size_t done_before = 0;  // of them, by a run that was interrupted
};
// Brings the schema to this program's version by settings.sql_directory/upgrades/<version>.sql, one
// version after the other; what it did. A run that was interrupted anywhere is mended by the next
// one. Throws std::runtime_error when there is no schema, it is newer than this program, a file is
// missing or another migration is running; DbError, with the statement's place, for one that fails.
std::vector<AppliedUpgrade> upgrade_schema(Context& context);
// The same as the database's administrator, where the configuration's user may not.
std::vector<AppliedUpgrade> upgrade_schema(const Context& context,
                                           const Administrator& administrator);

enum class Readiness : std::uint8_t { Ready, DatabaseAway, WrongSchema };
struct ReadinessReport {
    Readiness state = Readiness::Ready;
    std::string problem;  // what is wrong and what mends it; "" when Ready
};
ReadinessReport check_readiness(Context& context);

}  // namespace muster::service
