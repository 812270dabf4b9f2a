#include "store/operations/accounts.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::store {

using db::SystemSql;
using db::Why;

namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::size_t kLongestHost = 60;

// A string literal, for the sql_mode of Muster's connections and for the default one.
std::string quoted(std::string_view text) {
    std::string made = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') made += '\\';
        made += c;
    }
    return made + "'";
}

std::string name_of(const Account& account) {
    if (!is_account_name(account.user)) {
        throw std::invalid_argument("database.user may contain only letters, digits and _");
    }
    if (!is_account_host(account.host)) {
        throw std::invalid_argument(
            "the host of a database user must be a name, an address or a pattern");
    }
    return "'" + account.user + "'@'" + account.host + "'";
}

void require_database_name(std::string_view name) {
    if (is_account_name(name)) return;
    throw std::invalid_argument("database.name may contain only letters, digits and _");
}

// In a grant, an unescaped underscore would match any character.
std::string pattern_of(std::string_view database) {
    require_database_name(database);
    std::string pattern;
    for (const char c : database) {
        if (c == '_') pattern += '\\';
        pattern += c;
    }
    return pattern;
}

std::string tables_of(std::string_view database) {
    return "`" + pattern_of(database) + "`.*";
}

std::string authentication(const Account& account, std::string_view identified) {
    return " IDENTIFIED " + std::string(identified) +
           (account.requires_tls ? " REQUIRE SSL" : " REQUIRE NONE");
}

}  // namespace

bool is_account_name(std::string_view text) {
    return !text.empty() && text.size() <= kLongestName &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_account_host(std::string_view text) {
    return !text.empty() && text.size() <= kLongestHost &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) ||
                      std::string_view("_%.:-/").find(c) != std::string_view::npos;
           });
}

std::string by_system_user(ServerKind kind) {
    return kind == ServerKind::MariaDb ? "VIA unix_socket" : "WITH auth_socket";
}

std::string by_password(ServerKind kind, const Secret& password) {
    if (kind == ServerKind::MySql) return "BY " + quoted(password.reveal());
    std::string hash = to_hex(sha1(sha1(password.reveal())));
    ascii_upper(hash);
    return "VIA mysql_native_password USING '*" + hash + "'";
}

std::string by_placeholder(std::string_view word) {
    return "BY " + quoted(word);
}

std::string create_account_statement(const Account& account, std::string_view identified) {
    return "CREATE USER IF NOT EXISTS " + name_of(account) + authentication(account, identified);
}

std::string alter_account_statement(const Account& account, std::string_view identified) {
    return "ALTER USER " + name_of(account) + authentication(account, identified);
}

std::string grant_statement(const Account& account, std::string_view database) {
    return "GRANT SELECT, INSERT, UPDATE, DELETE ON " + tables_of(database) + " TO " +
           name_of(account);
}

std::string revoke_statement(ServerKind kind, const Account& account, std::string_view database) {
    // MySQL reports an error if there is nothing to revoke.
    const bool is_mariadb = kind == ServerKind::MariaDb;
    const std::string_view own = is_mariadb ? "DELETE HISTORY, " : "";
    return std::string(is_mariadb ? "REVOKE" : "REVOKE IF EXISTS") +
           " CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES, "
           "CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, EVENT, TRIGGER, " +
           std::string(own) + "GRANT OPTION ON " + tables_of(database) + " FROM " +
           name_of(account);
}

bool has_other_rights(db::Tx& tx, const Account& account, std::string_view database) {
    // information_schema shows a database's name as written in the grant.
    static constexpr SystemSql kRights{
        "accounts.other_rights", Why{"reads the server's state, no tenant data"},
        "SELECT 1 FROM information_schema.user_privileges "
        "WHERE grantee = ? AND (privilege_type <> 'USAGE' OR is_grantable = 'YES') "
        "UNION ALL SELECT 1 FROM information_schema.schema_privileges "
        "WHERE grantee = ? AND table_schema <> ? "
        "UNION ALL SELECT 1 FROM information_schema.table_privileges WHERE grantee = ? "
        "UNION ALL SELECT 1 FROM information_schema.column_privileges WHERE grantee = ? LIMIT 1"};
    const std::string grantee = name_of(account);
    return tx.exists(kRights, grantee, grantee, pattern_of(database), grantee, grantee);
}

std::string use_statement(std::string_view database) {
    require_database_name(database);
    return "USE `" + std::string(database) + "`";
}

std::string first_version_statement(const rules::SchemaRecord& schema, Timestamp now) {
    const std::string program =
        schema.oldest_program ? std::to_string(*schema.oldest_program) : "NULL";
    return "INSERT INTO schema_version (version, applied_at, oldest_program) SELECT " +
           std::to_string(schema.version) + ", " + std::to_string(now.milliseconds()) + ", " +
           program + " FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM schema_version)";
}

}  // namespace muster::store
