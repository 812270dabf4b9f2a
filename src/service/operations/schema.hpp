// Creates and upgrades the schema, and checks that the program and the database's schema are
// compatible.
#pragma once

#include "base/time.hpp"
#include "rules/operations/schema_fit.hpp"
#include "service/context.hpp"
#include "service/operations/database.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::service {

int supported_schema_version();

// The compatibility of this program with the database's schema.
struct SchemaStatus {
    rules::SchemaFit fit = rules::SchemaFit::None;
    std::optional<rules::SchemaRecord> installed;  // nullopt: no schema, or no database
    std::string problem;  // the problem and the command that fixes it; "": the schema is usable
};
// A command that changes the schema, in full: over the administrator's socket if the configured
// user lacks the privileges.
std::string command_for(Context& context, const std::string& command);
// Throws DbError if the database is unavailable.
SchemaStatus schema_status(Context& context);
// Also compares the tables, columns and indexes with the schema file, if the schema has this
// program's version. Throws std::runtime_error if the file cannot be read.
SchemaStatus inspect_schema(Context& context);

// Creates the database (through `without_database`, a connection without a default database) and
// the schema from settings.files.sql, as the configured user. Returns false if the schema exists
// already, which requires no privilege to create it. Throws std::runtime_error if a file is
// missing.
bool initialize_schema(db::Database& without_database, Context& context);
// Creates the schema in the database of `database`. Returns and throws like initialize_schema().
bool make_schema(db::Database& database, const Settings& settings);
// A schema or upgrade file: its statements and the schema version that they produce.
struct SchemaFile {
    std::vector<std::string> statements;
    rules::SchemaRecord makes;
};
// Reads settings.files.sql/schema.sql. Throws std::runtime_error if it is missing, ends within a
// statement, or has no line for the oldest program.
SchemaFile schema_file(const Settings& settings);

struct AppliedUpgrade {
    int version = 0;
    std::size_t statements = 0;
    std::size_t done_before = 0;  // statements applied by an earlier, interrupted run
};
struct Migration {
    std::vector<AppliedUpgrade> upgrades;
    int version = 0;  // the schema's version now: this program's, or a newer compatible one
};
// How long an upgrade waits.
struct MigrationTimeouts {
    // For a table lock: statements of others queue behind the upgrade, so it gives way after this
    // time and tries again.
    int lock_seconds = 2;
    int lock_attempts = 10;
    Milliseconds pause{1'000};
    // For another migration to end.
    int other_migration_seconds = 3;
    // For the server to notice that our own connection was lost.
    int reconnect_seconds = 30;
};
// Runs the upgrade after the schema's current version, or the rest of an interrupted run, and
// records its version. Programs older than the upgrade allows are refused from its start.
AppliedUpgrade apply_upgrade(db::Tx& tx, const SchemaFile& upgrade,
                             const MigrationTimeouts& timeouts);
// Upgrades the schema to this program's version with settings.files.sql/upgrades/<version>.sql, one
// version after the other. After an interruption, run it again. Throws std::runtime_error if the
// schema is missing or requires a newer program, a file is missing or has no line for the
// oldest program, another migration is running, or a table remains locked; DbError, with the
// position of the statement, if a statement fails.
Migration upgrade_schema(Context& context, const MigrationTimeouts& timeouts = {});
// The same as the database's administrator, if the configured user lacks the privileges.
Migration upgrade_schema(const Context& context, const Administrator& administrator,
                         const MigrationTimeouts& timeouts = {});

enum class Readiness : std::uint8_t { Ready, DatabaseUnavailable, WrongSchema };
struct ReadinessReport {
    Readiness state = Readiness::Ready;
    std::string problem;  // the problem and its fix; "" when Ready
};
ReadinessReport check_readiness(Context& context);

}  // namespace muster::service
