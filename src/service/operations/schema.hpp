// Making the schema, and the question whether this program and the database fit together.
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

// How this program and the database's schema stand to each other.
struct SchemaStanding {
    rules::SchemaFit fit = rules::SchemaFit::None;
    std::optional<rules::SchemaRecord> installed;  // nullopt: no schema, or no database
    std::string problem;  // what is wrong and the command that mends it; "" = work may begin
};
// Throws DbError when the database is away.
SchemaStanding schema_standing(Context& context);

// Makes the database (through `without_database`, a connection that names none) and the schema from
// settings.files.sql, as the configuration's user. False when the schema stood already, which
// asks for no right to make anything. Throws std::runtime_error for a missing file.
bool initialize_schema(db::Database& without_database, Context& context);
// Makes the schema in the database that `database` leads to; likewise.
bool make_schema(db::Database& database, const Settings& settings);
// The file that does it.
struct SchemaFile {
    std::vector<std::string> statements;
    rules::SchemaRecord makes;
};
// Throws std::runtime_error when it is missing, or does not say the oldest program.
SchemaFile schema_file(const Settings& settings);

struct AppliedUpgrade {
    int version = 0;
    std::size_t statements = 0;
    std::size_t done_before = 0;  // of them, by a run that was interrupted
};
struct Migration {
    std::vector<AppliedUpgrade> upgrades;
    int version = 0;  // of the schema now: this program's, or a newer one that it may work with
};
// How an upgrade waits for others.
struct MigrationPatience {
    // For a table that a transaction keeps open: meanwhile the statements of others wait behind the
    // upgrade, so it gives way after this time, lets them pass, and tries again.
    int lock_seconds = 2;
    int lock_attempts = 10;
    Milliseconds pause{1'000};
    // For another migration to end.
    int rival_seconds = 3;
    // For the server to see that a connection of our own was lost.
    int own_seconds = 30;
};
// Runs the one upgrade that follows the schema's version, or what an interrupted run has left of
// it, and records its version. Programs older than it names are refused from its beginning on.
AppliedUpgrade apply_upgrade(db::Tx& tx, const SchemaFile& upgrade,
                             const MigrationPatience& patience);
// Brings the schema to this program's version by settings.files.sql/upgrades/<version>.sql, one
// version after the other. A run that was interrupted anywhere is mended by the next one. Throws
// std::runtime_error when there is no schema, it wants a newer program, a file is missing or says
// no oldest program, another migration is running or a table is kept open; DbError, with the
// statement's place, for one that fails.
Migration upgrade_schema(Context& context, const MigrationPatience& patience = {});
// The same as the database's administrator, where the configuration's user may not.
Migration upgrade_schema(const Context& context, const Administrator& administrator,
                         const MigrationPatience& patience = {});

enum class Readiness : std::uint8_t { Ready, DatabaseAway, WrongSchema };
struct ReadinessReport {
    Readiness state = Readiness::Ready;
    std::string problem;  // what is wrong and what mends it; "" when Ready
};
ReadinessReport check_readiness(Context& context);

}  // namespace muster::service
