#include "service/operations/schema.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/failure.hpp"
#include "store/operations/schema.hpp"
#include "store/operations/schema_parts.hpp"
#include "store/operations/server.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace muster::service {
namespace {

using rules::SchemaFit;
using rules::SchemaRecord;

// Errors of a statement that was already applied: an object exists, or an object to drop does not.
// The engine applies all clauses of an ALTER or none, so one error covers the whole statement.
constexpr std::array kAlreadyApplied = {
    db::ServerError::TableExists, db::ServerError::DuplicateColumn,
    db::ServerError::DuplicateKeyName, db::ServerError::CannotDropMissing};

std::string file_content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path + " (setting files.sql)");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string schema_path(const Settings& settings) {
    return settings.files.sql + "/schema.sql";
}

SchemaFile read_schema_file(const std::string& path, int version) {
    const std::string text = file_content(path);
    SchemaFile file;
    try {
        file = {store::statements_of(text), {version, store::oldest_program_in(text)}};
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
    if (!file.makes.oldest_program && version >= store::kFirstVersionWithPrograms) {
        throw std::runtime_error(path + " has no line \"-- oldest program: N\"");
    }
    return file;
}

// The upgrades after `installed`, up to this program's version.
std::vector<SchemaFile> upgrades_after(int installed, const std::string& directory) {
    std::vector<SchemaFile> upgrades;
    for (int version = installed + 1; version <= store::kSchemaVersion; ++version) {
        upgrades.push_back(
            read_schema_file(directory + "/upgrades/" + std::to_string(version) + ".sql", version));
    }
    return upgrades;
}

// The error for a locked table, with the most likely holder of the lock.
std::string blocked_text(db::Tx& tx, const std::string& place) {
    const auto holder = store::oldest_transaction(tx);
    return place + " timed out waiting for a locked table" +
           (holder ? ", possibly locked by connection " + std::to_string(*holder) +
                         ", which has the oldest transaction"
                   : "") +
           ": no data was lost; when that transaction has ended (SHOW PROCESSLIST), run `musterctl db "
           "migrate` again";
}

// Returns the number of changed rows. While a table is locked, gives way and tries again.
std::int64_t run_with_retries(db::Tx& tx, const std::string& statement, const std::string& place,
                              const MigrationTimeouts& timeouts) {
    for (int attempt = 1;; ++attempt) {
        try {
            return tx.run(statement);
        } catch (const db::DbError& error) {
            if (error.kind() != db::DbError::Kind::LockTimeout) throw;
        }
        if (attempt >= timeouts.lock_attempts) throw std::runtime_error(blocked_text(tx, place));
        std::this_thread::sleep_for(timeouts.pause);
    }
}

// Returns false if the statement was already applied.
bool run_upgrade_statement(db::Tx& tx, const std::string& statement, const std::string& place,
                           const MigrationTimeouts& timeouts) {
    try {
        // Every UPDATE has a LIMIT, so that the size of a transaction does not depend on the table.
        const bool is_batch = statement.starts_with("UPDATE ");
        while (run_with_retries(tx, statement, place, timeouts) > 0 && is_batch) continue;
        return true;
    } catch (const db::DbError& error) {
        if (std::find(kAlreadyApplied.begin(), kAlreadyApplied.end(), error.server_error()) !=
            kAlreadyApplied.end()) {
            return false;
        }
        std::string reason = error.what();
        std::replace(reason.begin(), reason.end(), '\n', ' ');  // newlines of the statement
        throw db::DbError(error.kind(), error.number(), place + ": " + reason);
    }
}

// Excludes other migrations during its lifetime.
class SchemaLock {
  public:
    SchemaLock(db::Tx& tx, int timeout_seconds) : tx_(tx) {
        if (!store::lock_schema(tx_, timeout_seconds)) {
            throw std::runtime_error(
                "another `musterctl db init` or `db migrate` of this database is running, or the "
                "server still executes the last statement of an interrupted one");
        }
    }
    ~SchemaLock() {
        try {
            store::unlock_schema(tx_);
        } catch (...) {  // a lost connection has released the lock
        }
    }
    SchemaLock(const SchemaLock&) = delete;
    SchemaLock& operator=(const SchemaLock&) = delete;

  private:
    db::Tx& tx_;
};

// The message for the operator of an older program.
std::string too_new_text(const SchemaRecord& installed) {
    const int required = installed.oldest_program.value_or(installed.version);
    return "the schema is newer than this program: it requires a program for version " +
           std::to_string(required) + " or later; this one is for version " +
           std::to_string(store::kSchemaVersion) +
           ": install the newer packages on this host (operations/upgrade.md)";
}

// Runs all upgrades after the schema's current version.
Migration run_upgrades(db::Tx& tx, const std::string& sql_directory,
                       const MigrationTimeouts& timeouts) {
    store::limit_table_wait(tx, timeouts.lock_seconds);
    const auto installed = store::schema_record(tx);
    const SchemaFit fit = rules::fit_of(store::kSchemaVersion, installed);
    if (fit == SchemaFit::None) {
        throw std::runtime_error("the database has no schema: run `musterctl db init`");
    }
    if (fit == SchemaFit::NewerUnusable) throw std::runtime_error(too_new_text(*installed));
    Migration migration{{}, installed->version};
    const auto upgrades = upgrades_after(installed->version, sql_directory);
    // Tests the locks before older programs are refused.
    if (!upgrades.empty()) {
        run_with_retries(tx, std::string(store::kNoOpChange), "the upgrade", timeouts);
    }
    for (const SchemaFile& next : upgrades) {
        migration.upgrades.push_back(apply_upgrade(tx, next, timeouts));
        migration.version = next.makes.version;
    }
    return migration;
}

Migration upgrade(db::Database& database, const std::string& sql_directory,
                  const MigrationTimeouts& timeouts) {
    bool has_begun = false;
    try {
        // One connection holds the lock; after a lost connection, the upgrade starts again. The
        // server may need a moment to notice the loss and to release the lock.
        return database.autocommit([&](db::Tx& tx) {
            const SchemaLock lock(
                tx, has_begun ? timeouts.reconnect_seconds : timeouts.other_migration_seconds);
            has_begun = true;
            return run_upgrades(tx, sql_directory, timeouts);
        });
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::Gone || !has_begun) throw;
        throw std::runtime_error(std::string(error.what()) +
                                 ": no data was lost; run `musterctl db migrate` again");
    }
}

// Also returns false if the database does not exist or is not visible to the user.
bool has_schema(Context& context) {
    try {
        return schema_status(context).fit != SchemaFit::None;
    } catch (const db::DbError& error) {
        if (error.server_error() == db::ServerError::DatabaseAccessDenied) return false;
        throw;
    }
}

std::string problem_of(Context& context, SchemaFit fit, const SchemaRecord& installed) {
    switch (fit) {
        case SchemaFit::None:
            return "the database has no schema: run " + command_for(context, "musterctl db init");
        case SchemaFit::Older:
            return "the schema is too old: run " + command_for(context, "musterctl db migrate");
        case SchemaFit::NewerUnusable:
            return too_new_text(installed);
        case SchemaFit::Current:
        case SchemaFit::NewerUsable:
            break;
    }
    return "";
}

// "a, b, c and 4 more"
std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t kListed = 3;
    const std::size_t listed = std::min(names.size(), kListed);
    std::string text;
    for (std::size_t i = 0; i < listed; ++i) {
        text.append(i == 0 ? "" : ", ").append(names[i]);
    }
    if (names.size() > listed) text += " and " + std::to_string(names.size() - listed) + " more";
    return text;
}

// The server hides a table from a user without a privilege on it.
std::string grant_advice(const std::vector<std::string>& missing) {
    const bool lacks_table = std::ranges::any_of(
        missing, [](const std::string& name) { return name.starts_with("table "); });
    return lacks_table ? "check the privileges of database.user (SHOW GRANTS), or " : "";
}

}  // namespace

int supported_schema_version() {
    return store::kSchemaVersion;
}

std::string command_for(Context& context, const std::string& command) {
    if (context.database.autocommit([](db::Tx& tx) { return store::may_change_schema(tx); }))
        return "`" + command + "`";
    return "`" + command + " --root-socket " + socket_of(context.settings.database) +
           "` as root (database.user lacks the privileges)";
}

SchemaStatus schema_status(Context& context) {
    SchemaStatus status;
    try {
        status.installed =
            context.database.autocommit([](db::Tx& tx) { return store::schema_record(tx); });
    } catch (const db::DbError& error) {
        if (error.server_error() != db::ServerError::UnknownDatabase) throw;
        // Without the database, the privileges of the user are unknown.
        status.problem = "the database in database.name does not exist: run `musterctl db init`";
        return status;
    }
    status.fit = rules::fit_of(store::kSchemaVersion, status.installed);
    status.problem = problem_of(context, status.fit, status.installed.value_or(SchemaRecord{}));
    return status;
}

SchemaStatus inspect_schema(Context& context) {
    SchemaStatus status = schema_status(context);
    if (status.fit != SchemaFit::Current) return status;
    const auto missing = store::missing_parts(
        store::parts_made_by(schema_file(context.settings).statements),
        context.database.autocommit([](db::Tx& tx) { return store::installed_parts(tx); }));
    if (!missing.empty()) {
        status.problem = "the schema lacks " + first_of(missing) + ": " + grant_advice(missing) +
                         "restore the database from a backup (operations/backup.md), or add "
                         "what " +
                         schema_path(context.settings) + " defines";
    }
    return status;
}

SchemaFile schema_file(const Settings& settings) {
    return read_schema_file(schema_path(settings), store::kSchemaVersion);
}

bool make_schema(db::Database& database, const Settings& settings) {
    return database.autocommit([&](db::Tx& tx) {
        const SchemaLock lock(tx, MigrationTimeouts().other_migration_seconds);
        if (store::schema_record(tx).value_or(SchemaRecord{}).version > 0) return false;
        const SchemaFile file = schema_file(settings);
        // The engine commits each CREATE TABLE separately. The version is written last, so it shows
        // that all tables exist.
        for (const std::string& statement : file.statements) tx.run(statement);
        store::record_schema(tx, file.makes, Timestamp::now());
        return true;
    });
}

bool initialize_schema(db::Database& without_database, Context& context) {
    if (has_schema(context)) return false;
    without_database.run(store::create_database_statement(context.settings.database.name));
    return make_schema(context.database, context.settings);
}

AppliedUpgrade apply_upgrade(db::Tx& tx, const SchemaFile& upgrade,
                             const MigrationTimeouts& timeouts) {
    const int version = upgrade.makes.version;
    // Incompatible programs are refused from the start of the upgrade.
    if (upgrade.makes.oldest_program) {
        store::require_program(tx, version - 1, *upgrade.makes.oldest_program);
    }
    AppliedUpgrade applied{version, upgrade.statements.size(), 0};
    for (std::size_t i = 0; i < upgrade.statements.size(); ++i) {
        const std::string place = "upgrade to version " + std::to_string(version) + ", statement " +
                                  std::to_string(i + 1) + " of " +
                                  std::to_string(upgrade.statements.size());
        if (!run_upgrade_statement(tx, upgrade.statements[i], place, timeouts)) {
            ++applied.done_before;
        }
    }
    store::record_schema(tx, upgrade.makes, Timestamp::now());
    return applied;
}

Migration upgrade_schema(Context& context, const MigrationTimeouts& timeouts) {
    return upgrade(context.database, context.settings.files.sql, timeouts);
}

Migration upgrade_schema(const Context& context, const Administrator& administrator,
                         const MigrationTimeouts& timeouts) {
    const Settings& settings = context.settings;
    db::Database nameless(connection_settings(settings.database, administrator, ""));
    check_access(nameless, administrator);
    db::Database database(
        connection_settings(settings.database, administrator, settings.database.name));
    return upgrade(database, settings.files.sql, timeouts);
}

ReadinessReport check_readiness(Context& context) {
    try {
        const std::string problem = schema_status(context).problem;
        return {problem.empty() ? Readiness::Ready : Readiness::WrongSchema, problem};
    } catch (const db::DbError& error) {
        return {Readiness::DatabaseUnavailable, explained(error)};
    }
}

}  // namespace muster::service
