#include "service/schema.hpp"

#include "db/transaction.hpp"
#include "store/schema.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace muster::service {
namespace {

constexpr int kUnknownDatabase = 1049;

std::string file_content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path + " (setting files.sql)");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

int supported_schema_version() {
    return store::kSchemaVersion;
}

std::optional<int> installed_schema_version(Context& context) {
    return context.database.read([](db::Tx& tx) { return store::schema_version(tx); });
}

bool initialize_schema(db::Database& without_database, Context& context) {
    without_database.run(store::create_database_statement(context.settings.database_name));
    if (installed_schema_version(context).value_or(0) > 0) return false;
    // The engine commits each CREATE TABLE by itself; the version, written last, says that all are
    // there.
    for (const std::string& statement :
         store::statements_of(file_content(context.settings.sql_directory + "/schema.sql"))) {
        context.database.run(statement);
    }
    context.database.transaction([](db::Tx& tx) {
        store::record_schema_version(tx, store::kSchemaVersion, Timestamp::now());
    });
    return true;
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
        return {Readiness::WrongSchema, "the database has no schema: run `musterctl db init`"};
    }
    if (*version < store::kSchemaVersion) {
        return {Readiness::WrongSchema, "the schema is too old: run `musterctl db migrate`"};
    }
    if (*version > store::kSchemaVersion) {
        return {Readiness::WrongSchema, "the schema is newer than this program: upgrade muster"};
    }
    return {};
}

}  // namespace muster::service
