#include "store/operations/server.hpp"

#include "rules/operations/database_server.hpp"

#include <tuple>
#include <vector>

namespace muster::store {

using db::SystemSql;
using db::Why;

namespace {

// SHOW defines its own columns; the list is put into a comment of the statement.
constexpr auto kVariable =
    db::row<std::string, std::optional<std::string>>("Variable_name", "Value");

}  // namespace

ServerReport describe_server(db::Tx& tx) {
    static constexpr SystemSql kVersion{"server.version",
                                        Why{"reads the server's state, no tenant data"},
                                        "SELECT CAST(VERSION() AS CHAR)"};
    static constexpr SystemSql kCipher{"server.cipher",
                                       Why{"reads the server's state, no tenant data"}, kVariable,
                                       "SHOW SESSION STATUS /* {columns} */ LIKE 'Ssl_cipher'"};
    ServerReport report;
    report.version = tx.value<std::string>(kVersion);
    const bool is_mariadb = report.version.find("MariaDB") != std::string::npos;
    report.kind = is_mariadb ? ServerKind::MariaDb : ServerKind::MySql;
    if (auto cipher = tx.one(kCipher)) report.cipher = db::or_empty(std::get<1>(*cipher));
    return report;
}

std::map<std::string, std::string, std::less<>> server_settings(db::Tx& tx) {
    static constexpr SystemSql kSettings{
        "server.settings", Why{"reads the server's state, no tenant data"}, kVariable,
        "SHOW GLOBAL VARIABLES /* {columns} */ WHERE variable_name IN ({?})"};
    const std::vector<db::Param> names(rules::kCheckedSettings.begin(),
                                       rules::kCheckedSettings.end());
    std::map<std::string, std::string, std::less<>> settings;
    for (auto [name, value] : tx.each_bulk(kSettings, names.size(), names)) {
        settings[name] = db::or_empty(std::move(value));
    }
    return settings;
}

Timestamp server_time(db::Tx& tx) {
    static constexpr SystemSql kNow{"server.now", Why{"reads the server's state, no tenant data"},
                                    "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"};
    return tx.value<Timestamp>(kNow);
}

bool may_change_schema(db::Tx& tx) {
    // In this table a database's name is a pattern, as in the grant. An administrator also sees the
    // privileges of other users, so the grantee is compared.
    static constexpr SystemSql kMay{
        "server.may_change_schema", Why{"reads the server's state, no tenant data"},
        "SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'ALTER' "
        "AND grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''') "
        "UNION ALL SELECT 1 FROM information_schema.schema_privileges "
        "WHERE privilege_type = 'ALTER' AND DATABASE() LIKE table_schema "
        "AND grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')"};
    return tx.exists(kMay);
}

std::optional<std::int64_t> oldest_transaction(db::Tx& tx) {
    static constexpr SystemSql kOldest{
        "server.oldest_transaction", Why{"reads the server's state, no tenant data"},
        "SELECT CAST(trx_mysql_thread_id AS SIGNED) FROM information_schema.innodb_trx "
        "WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) ORDER BY trx_started LIMIT 1"};
    try {
        return tx.one<std::int64_t>(kOldest);
    } catch (const db::DbError& error) {
        if (error.kind() == db::DbError::Kind::Gone) throw;
        return std::nullopt;  // the user lacks the privilege PROCESS
    }
}

}  // namespace muster::store
