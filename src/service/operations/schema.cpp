#include "service/operations/schema.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "store/operations/schema.hpp"
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

// A table, column or key exists already, or one that is to go is not there: what an upgrade's
// statement answers when it was done before. The engine does all clauses of an ALTER or none, so
// one of them speaks for all.
constexpr std::array kDoneBefore = {db::ServerError::TableExists, db::ServerError::DuplicateColumn,
                                    db::ServerError::DuplicateKeyName,
                                    db::ServerError::CannotDropMissing};

std::string file_content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path + " (setting files.sql)");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

SchemaFile read_schema_file(const std::string& path, int version) {
    const std::string text = file_content(path);
    SchemaFile file{store::statements_of(text), {version, store::oldest_program_in(text)}};
    if (!file.makes.oldest_program && version >= store::kFirstVersionWithPrograms) {
        throw std::runtime_error(path + " has no line \"-- oldest program: N\"");
    }
    return file;
}

// From the version after `installed` to this program's.
std::vector<SchemaFile> upgrades_after(int installed, const std::string& directory) {
    std::vector<SchemaFile> upgrades;
    for (int version = installed + 1; version <= store::kSchemaVersion; ++version) {
        upgrades.push_back(
            read_schema_file(directory + "/upgrades/" + std::to_string(version) + ".sql", version));
    }
    return upgrades;
}

// Who keeps a table open, as far as that can be seen.
std::string blocked(db::Tx& tx, const std::string& place) {
    const auto holder = store::oldest_transaction(tx);
    return place + " waits for a table that others keep open" +
           (holder ? ", perhaps connection " + std::to_string(*holder) +
                         ", whose transaction is the oldest"
                   : "") +
           ": nothing is lost; when that has ended (SHOW PROCESSLIST), run `musterctl db migrate` "
           "again";
}

// The number of rows changed. Gives way to others and tries again while it finds a table locked.
std::int64_t run_patiently(db::Tx& tx, const std::string& statement, const std::string& place,
                           const MigrationPatience& patience) {
    for (int attempt = 1;; ++attempt) {
        try {
            return tx.run(statement);
        } catch (const db::DbError& error) {
            if (error.kind() != db::DbError::Kind::LockTimeout) throw;
        }
        if (attempt >= patience.lock_attempts) throw std::runtime_error(blocked(tx, place));
        std::this_thread::sleep_for(patience.pause);
    }
}

// False when it was done before.
bool run_upgrade_statement(db::Tx& tx, const std::string& statement, const std::string& place,
                           const MigrationPatience& patience) {
    try {
        // An UPDATE is written with a LIMIT, so that no transaction grows with the table.
        const bool is_batch = statement.starts_with("UPDATE ");
        while (run_patiently(tx, statement, place, patience) > 0 && is_batch) continue;
        return true;
    } catch (const db::DbError& error) {
        if (std::find(kDoneBefore.begin(), kDoneBefore.end(), error.server_error()) !=
            kDoneBefore.end()) {
            return false;
        }
        std::string reason = error.what();
        std::replace(reason.begin(), reason.end(), '\n', ' ');  // the statement's
        throw db::DbError(error.kind(), error.number(), place + ": " + reason);
    }
}

// Keeps other migrations out for as long as it lives.
class SchemaLock {
  public:
    SchemaLock(db::Tx& tx, int patience_seconds) : tx_(tx) {
        if (!store::lock_schema(tx_, patience_seconds)) {
            throw std::runtime_error(
                "another `musterctl db init` or `db migrate` of this database is running, or the "
                "server is still at the last statement of one that was broken off");
        }
    }
    ~SchemaLock() {
        try {
            store::unlock_schema(tx_);
        } catch (...) {  // a connection that is lost has let go of it
        }
    }
    SchemaLock(const SchemaLock&) = delete;
    SchemaLock& operator=(const SchemaLock&) = delete;

  private:
    db::Tx& tx_;
};

// What an operator of an older program reads.
std::string too_new(const SchemaRecord& installed) {
    const int wanted = installed.oldest_program.value_or(installed.version);
    return "the schema is newer than this program: it wants one for version " +
           std::to_string(wanted) + " or later, and this one is for " +
           std::to_string(store::kSchemaVersion) +
           ": upgrade muster on this host (`apt install muster`)";
}

// Begins where the schema stands.
Migration upgrade_from_here(db::Tx& tx, const std::string& sql_directory,
                            const MigrationPatience& patience) {
    store::limit_table_wait(tx, patience.lock_seconds);
    const auto installed = store::schema_record(tx);
    const SchemaFit fit = rules::fit_of(store::kSchemaVersion, installed);
    if (fit == SchemaFit::None) {
        throw std::runtime_error("there is no schema yet: run `musterctl db init`");
    }
    if (fit == SchemaFit::NewerUnusable) throw std::runtime_error(too_new(*installed));
    Migration migration{{}, installed->version};
    const auto upgrades = upgrades_after(installed->version, sql_directory);
    // Before older programs are told to refuse.
    if (!upgrades.empty()) {
        run_patiently(tx, std::string(store::kNoOpChange), "the upgrade", patience);
    }
    for (const SchemaFile& next : upgrades) {
        migration.upgrades.push_back(apply_upgrade(tx, next, patience));
        migration.version = next.makes.version;
    }
    return migration;
}

Migration upgrade(db::Database& database, const std::string& sql_directory,
                  const MigrationPatience& patience) {
    bool has_begun = false;
    try {
        // One connection for all of it, which holds the lock; a lost one begins again. The server
        // may take a moment to see that it is lost, and to let go of the lock.
        return database.autocommit([&](db::Tx& tx) {
            const SchemaLock lock(tx, has_begun ? patience.own_seconds : patience.rival_seconds);
            has_begun = true;
            return upgrade_from_here(tx, sql_directory, patience);
        });
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::Gone || !has_begun) throw;
        throw std::runtime_error(std::string(error.what()) +
                                 ": nothing is lost; run `musterctl db migrate` again");
    }
}

// False too when there is no such database, or none that the user may see.
bool has_schema(Context& context) {
    try {
        return schema_standing(context).fit != SchemaFit::None;
    } catch (const db::DbError& error) {
        if (error.server_error() == db::ServerError::DatabaseAccessDenied) return false;
        throw;
    }
}

// What is to be run for `command`: over the administrator's socket where the configuration's user
// may not.
std::string command_for(Context& context, const std::string& command) {
    if (context.database.autocommit([](db::Tx& tx) { return store::may_change_schema(tx); }))
        return "`" + command + "`";
    return "`" + command + " --root-socket " + socket_of(context.settings.database) +
           "` as root (database.user has no right to)";
}

std::string problem_of(Context& context, SchemaFit fit, const SchemaRecord& installed) {
    switch (fit) {
        case SchemaFit::None:
            return "the database has no schema: run " + command_for(context, "musterctl db init");
        case SchemaFit::Older:
            return "the schema is too old: run " + command_for(context, "musterctl db migrate");
        case SchemaFit::NewerUnusable:
            return too_new(installed);
        case SchemaFit::Current:
        case SchemaFit::NewerUsable:
            break;
    }
    return "";
}

}  // namespace

int supported_schema_version() {
    return store::kSchemaVersion;
}

SchemaStanding schema_standing(Context& context) {
    SchemaStanding standing;
    try {
        standing.installed =
            context.database.autocommit([](db::Tx& tx) { return store::schema_record(tx); });
    } catch (const db::DbError& error) {
        if (error.server_error() != db::ServerError::UnknownDatabase) throw;
        // Who may make it, nobody can tell.
        standing.problem = "there is no such database (database.name): run `musterctl db init`";
        return standing;
    }
    standing.fit = rules::fit_of(store::kSchemaVersion, standing.installed);
    standing.problem =
        problem_of(context, standing.fit, standing.installed.value_or(SchemaRecord{}));
    return standing;
}

SchemaFile schema_file(const Settings& settings) {
    return read_schema_file(settings.files.sql + "/schema.sql", store::kSchemaVersion);
}

bool make_schema(db::Database& database, const Settings& settings) {
    return database.autocommit([&](db::Tx& tx) {
        const SchemaLock lock(tx, MigrationPatience().rival_seconds);
        if (store::schema_record(tx).value_or(SchemaRecord{}).version > 0) return false;
        const SchemaFile file = schema_file(settings);
        // The engine commits each CREATE TABLE by itself; the version, written last, says that all
        // are there.
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
                             const MigrationPatience& patience) {
    const int version = upgrade.makes.version;
    // Programs that it is going to break are refused from its beginning on.
    if (upgrade.makes.oldest_program) {
        store::require_program(tx, version - 1, *upgrade.makes.oldest_program);
    }
    AppliedUpgrade applied{version, upgrade.statements.size(), 0};
    for (std::size_t i = 0; i < upgrade.statements.size(); ++i) {
        const std::string place = "upgrade to version " + std::to_string(version) + ", statement " +
                                  std::to_string(i + 1) + " of " +
                                  std::to_string(upgrade.statements.size());
        if (!run_upgrade_statement(tx, upgrade.statements[i], place, patience)) {
            ++applied.done_before;
        }
    }
    store::record_schema(tx, upgrade.makes, Timestamp::now());
    return applied;
}

Migration upgrade_schema(Context& context, const MigrationPatience& patience) {
    return upgrade(context.database, context.settings.files.sql, patience);
}

Migration upgrade_schema(const Context& context, const Administrator& administrator,
                         const MigrationPatience& patience) {
    const Settings& settings = context.settings;
    db::Database nameless(connection_settings(settings.database, administrator, ""));
    expect_to_be_let_in(nameless, administrator);
    db::Database database(
        connection_settings(settings.database, administrator, settings.database.name));
    return upgrade(database, settings.files.sql, patience);
}

ReadinessReport check_readiness(Context& context) {
    try {
        const std::string problem = schema_standing(context).problem;
        return {problem.empty() ? Readiness::Ready : Readiness::WrongSchema, problem};
    } catch (const db::DbError&) {
        return {Readiness::DatabaseAway,
                "the database does not answer: see database.* of the configuration"};
    }
}

}  // namespace muster::service
