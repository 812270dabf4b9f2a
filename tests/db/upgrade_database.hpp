// The databases of upgrade tests: in addition to the main test database, empty or of an earlier
// version, and checks of the upgraded schema and data.
#pragma once

#include "db/fixture.hpp"
#include "service/operations/schema.hpp"
#include "store/operations/schema.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

using Lines = std::vector<std::string>;

inline constexpr int kNewest = store::kSchemaVersion;

// A file relative to the root of the project.
std::string source_text(const std::string& file);
// "sql/upgrades/<version>.sql".
std::string upgrade_file(int version);
// The statement that records a version in the format used before kFirstVersionWithPrograms.
std::string recorded(int version);

// A separate, empty database.
class UpgradeDatabase {
  public:
    explicit UpgradeDatabase(const std::string& suffix);
    ~UpgradeDatabase();
    UpgradeDatabase(const UpgradeDatabase&) = delete;
    UpgradeDatabase& operator=(const UpgradeDatabase&) = delete;

    db::ConnectionSettings connection() const;
    void run_all(const std::string& file);
    // Statements of another program, on a separate connection.
    service::Migration upgrade_elsewhere();
    // The connection that upgrades this database now; nullopt: no upgrade is running.
    std::optional<std::int64_t> upgrading() const;

    Settings settings = test::settings();
    std::optional<Client> client;
    std::optional<db::Database> database;
    std::optional<service::Context> context;
};

// A database of version 1 with two organizations and 10^digits people in each.
struct OldDatabase : UpgradeDatabase {
    explicit OldDatabase(int digits = 1);
};

// A database with the current schema.
struct NewDatabase : UpgradeDatabase {
    NewDatabase();
};

// The tables and the newest row of schema_version match a new database, and programs may work.
void check_is_current(UpgradeDatabase& target);
// The data of an OldDatabase is unchanged, and the new columns have their values.
void check_data_is_right(OldDatabase& target, int people);

bool says(const std::exception& error, std::string_view words);

}  // namespace muster::test
