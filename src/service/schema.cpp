#include "service/schema.hpp"

#include "db/transaction.hpp"
#include "store/schema.hpp"
#include "store/server.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace muster::service {
namespace {

constexpr int kUnknownDatabase = 1049;
constexpr int kNoRightToDatabase = 1044;
// A table, column or key exists already, or one that is to go is not there: what an upgrade's
// statement answers when it was done before. The engine does all clauses of an ALTER or none, so
// one of them speaks for all.
constexpr std::array kDoneBefore = {1050, 1060, 1061, 1091};

std::string file_content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path + " (setting files.sql)");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Upgrade {
    int version;
    std::vector<std::string> statements;
};

// From the version after `installed` to this program's.
std::vector<Upgrade> upgrades_after(int installed, const std::string& directory) {
    std::vector<Upgrade> upgrades;
    for (int version = installed + 1; version <= store::kSchemaVersion; ++version) {
        const std::string path = directory + "/upgrades/" + std::to_string(version) + ".sql";
        upgrades.push_back({version, store::statements_of(file_content(path))});
    }
    return upgrades;
}

// False when it was done before.
bool run_upgrade_statement(db::Tx& tx, const std::string& statement, const std::string& place) {
    try {
        // An UPDATE is written with a LIMIT, so that no transaction grows with the table.
        const bool is_batch = statement.starts_with("UPDATE ");
        while (tx.run(statement) > 0 && is_batch) continue;
        return true;
    } catch (const db::DbError& error) {
        if (std::find(kDoneBefore.begin(), kDoneBefore.end(), error.number()) !=
            kDoneBefore.end()) {
            return false;
        }
        throw db::DbError(error.kind(), error.number(), place + ": " + error.what());
    }
}

AppliedUpgrade apply(db::Tx& tx, const Upgrade& upgrade) {
    AppliedUpgrade applied{upgrade.version, upgrade.statements.size(), 0};
    for (std::size_t i = 0; i < upgrade.statements.size(); ++i) {
        const std::string place = "upgrade to version " + std::to_string(upgrade.version) +
                                  ", statement " + std::to_string(i + 1) + " of " +
                                  std::to_string(upgrade.statements.size());
        if (!run_upgrade_statement(tx, upgrade.statements[i], place)) ++applied.done_before;
    }
    store::record_schema_version(tx, upgrade.version, Timestamp::now());
    return applied;
}

// Keeps other migrations out for as long as it lives.
class SchemaLock {
  public:
    explicit SchemaLock(db::Tx& tx) : tx_(tx) {
        if (!store::lock_schema(tx_)) {
            throw std::runtime_error(
                "another `musterctl db init` or `db migrate` of this database is running");
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

std::vector<AppliedUpgrade> upgrade(db::Database& database, const std::string& sql_directory) {
    // One connection for all of it, which holds the lock; a lost one begins again from what stands.
    return database.read([&](db::Tx& tx) {
        const SchemaLock lock(tx);
        const int installed = store::schema_version(tx).value_or(0);
        if (installed == 0) {
            throw std::runtime_error("there is no schema yet: run `musterctl db init`");
        }
        if (installed > store::kSchemaVersion) {
            throw std::runtime_error("the schema is newer than this program: upgrade muster");
        }
        std::vector<AppliedUpgrade> applied;
        for (const Upgrade& next : upgrades_after(installed, sql_directory)) {
            applied.push_back(apply(tx, next));
        }
        return applied;
    });
}

// False too when there is no such database, or none that the user may see.
bool has_schema(Context& context) {
    try {
        return installed_schema_version(context).value_or(0) > 0;
    } catch (const db::DbError& error) {
        if (error.number() == kUnknownDatabase || error.number() == kNoRightToDatabase)
            return false;
        throw;
    }
}

// What is to be run for `command`: over the administrator's socket where the configuration's user
// may not.
std::string command_for(Context& context, const std::string& command) {
    bool may = true;
    try {
        may = context.database.read([](db::Tx& tx) { return store::may_change_schema(tx); });
    } catch (const db::DbError&) {  // no such database: who may make it, nobody can tell
    }
    if (may) return "`" + command + "`";
    return "`" + command + " --root-socket " + socket_of(context.settings) +
           "` as root (database.user has no right to)";
}

}  // namespace

int supported_schema_version() {
    return store::kSchemaVersion;
}

std::optional<int> installed_schema_version(Context& context) {
    return context.database.read([](db::Tx& tx) { return store::schema_version(tx); });
}

std::vector<std::string> schema_statements(const Settings& settings) {
    return store::statements_of(file_content(settings.sql_directory + "/schema.sql"));
}

bool make_schema(db::Database& database, const Settings& settings) {
    return database.read([&](db::Tx& tx) {
        const SchemaLock lock(tx);
        if (store::schema_version(tx).value_or(0) > 0) return false;
        // The engine commits each CREATE TABLE by itself; the version, written last, says that all
        // are there.
        for (const std::string& statement : schema_statements(settings)) tx.run(statement);
        store::record_schema_version(tx, store::kSchemaVersion, Timestamp::now());
        return true;
    });
}

bool initialize_schema(db::Database& without_database, Context& context) {
    if (has_schema(context)) return false;
    without_database.run(store::create_database_statement(context.settings.database_name));
    return make_schema(context.database, context.settings);
}

std::vector<AppliedUpgrade> upgrade_schema(Context& context) {
    return upgrade(context.database, context.settings.sql_directory);
}

std::vector<AppliedUpgrade> upgrade_schema(const Context& context,
                                           const Administrator& administrator) {
    const Settings& settings = context.settings;
    db::Database nameless(connection_settings(settings, administrator, ""));
    expect_to_be_let_in(nameless, administrator);
    db::Database database(connection_settings(settings, administrator, settings.database_name));
    return upgrade(database, settings.sql_directory);
}

ReadinessReport check_readiness(Context& context) {
    std::optional<int> version;
    try {
        version = installed_schema_version(context);
    } catch (const db::DbError& error) {
        if (error.number() != kUnknownDatabase) {
            return {Readiness::DatabaseAway,
                    "the database does not answer: see database.* of the configuration"};
        }
    }
    if (!version || *version == 0) {
        return {Readiness::WrongSchema,
                "the database has no schema: run " + command_for(context, "musterctl db init")};
    }
    if (*version < store::kSchemaVersion) {
        return {Readiness::WrongSchema,
                "the schema is too old: run " + command_for(context, "musterctl db migrate")};
    }
    if (*version > store::kSchemaVersion) {
        return {Readiness::WrongSchema, "the schema is newer than this program: upgrade muster"};
    }
    return {};
}

}  // namespace muster::service
