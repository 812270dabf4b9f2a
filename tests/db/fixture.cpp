#include "db/fixture.hpp"

#include "rules/quotas.hpp"
#include "service/access/organizations.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <thread>

namespace muster::test {
namespace {

std::string environment(const char* name, const char* fallback) {
    const char* value = std::getenv(name);
    return value ? value : fallback;
}

Settings make_settings() {
    Settings made;
    const std::string socket = environment("MUSTER_TEST_SOCKET", "");
    if (socket.empty()) {
        throw std::runtime_error("MUSTER_TEST_SOCKET is not set: run tests/db/with-database");
    }
    made.database.url = "unix:" + socket;
    made.database.name = "muster_test_" + std::to_string(getpid());
    made.database.user = environment("MUSTER_TEST_USER", "root");
    made.limits.staged_mib = 2048;
    made.limits.reply_mib = 4096;
    made.limits.tracked_mib = 4096;
    made.limits.ingested_mib = 4096;
    made.limits.member_mib = 4096;
    made.limits.audit_entries = 20'000;
    made.jobs.lease = 20;
    made.jobs.attempts = 3;
    made.jobs.audit_days = 400;
    made.mail.url = "smtp://127.0.0.1:9";  // no listener
    made.mail.from = "muster@club.example";
    made.mail.tls = "try";
    made.security.key = Secret(std::string(32, 'k'));
    made.files.sql = source_root() + "/sql";
    made.webhooks.backlog = 100'000;
    return made;
}

}  // namespace

const Settings& settings() {
    static const Settings made = make_settings();
    return made;
}

db::ConnectionSettings short_lock_timeout() {
    auto settings = connection_settings();
    settings.lock_timeout_seconds = 1;
    return settings;
}

db::ConnectionSettings connection_settings() {
    db::ConnectionSettings connection;
    connection.urls = {settings().database.url};
    connection.database = settings().database.name;
    connection.user = settings().database.user;
    return connection;
}

std::string source_root() {
    namespace fs = std::filesystem;
    for (const fs::path& start : {fs::current_path(), fs::read_symlink("/proc/self/exe")}) {
        for (fs::path folder = start; folder.has_relative_path(); folder = folder.parent_path()) {
            if (fs::exists(folder / "sql/schema.sql")) return folder.string();
        }
    }
    throw std::runtime_error(
        "no parent folder of this folder or of the program contains sql/schema.sql");
}

bool until(const std::function<bool()>& condition) {
    constexpr Milliseconds kPause{5};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(kPause);
    }
    return true;
}

void in_parallel(int count, const std::function<void(int)>& work) {
    std::vector<std::future<void>> running;
    for (int i = 0; i < count; ++i) {
        running.push_back(std::async(std::launch::async, [&work, i] { work(i); }));
    }
    for (auto& one : running) one.wait();
    for (auto& one : running) one.get();
}

std::int64_t session_of(db::Tx& tx) {
    static constexpr db::SystemSql kId{"test.session", db::Why{"a session is of no tenant"},
                                       "SELECT CONNECTION_ID()"};
    return tx.value<std::int64_t>(kId);
}

void Client::kill(std::int64_t connection_id) {
    constexpr int kNoSuchThread = 1094;
    const bool gone = until([&] {
        try {
            run("KILL " + std::to_string(connection_id));
            return false;
        } catch (const db::DbError& error) {
            if (error.number() != kNoSuchThread) throw;
            return true;
        }
    });
    if (!gone) throw std::runtime_error("a killed connection is still open");
}

bool Client::has_lock_wait(int count) {
    // Not information_schema.innodb_trx: a connection that queries it often gets a cached state.
    auto rows = query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
    return rows.next() && std::stoi(rows.bytes(2)) >= count;
}

std::int64_t Client::bytes_of(const std::string& table) {
    (void)column("ANALYZE TABLE " + table);
    return number(
        "SELECT data_length + index_length FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name = ?",
        table);
}

std::vector<std::string> Client::tenant_tables() {
    return column(
        "SELECT table_name FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND column_name = 'organization_id' "
        "ORDER BY table_name");
}

std::map<std::string, std::string> Client::snapshot(OrgId organization) {
    run("SET SESSION group_concat_max_len = 64000000");
    std::map<std::string, std::string> digests;
    for (const std::string& table : tenant_tables()) {
        std::string cells = "'|'";
        for (const std::string& name :
             column("SELECT column_name FROM information_schema.columns WHERE table_schema = "
                    "DATABASE() AND table_name = ? ORDER BY ordinal_position",
                    table)) {
            // In hexadecimal: MySQL cannot concatenate bytes with text.
            cells += ", COALESCE(HEX(" + name + "), 'NULL')";
        }
        digests[table] =
            value("SELECT COALESCE(SHA2(GROUP_CONCAT(CONCAT_WS(" + cells + ") ORDER BY CONCAT_WS(" +
                      cells + ")), 256), '') FROM " + table + " WHERE organization_id = ?",
                  organization);
    }
    return digests;
}

std::string sequence(int count) {
    std::string sum = "1";
    std::string digits;
    int power = 1;
    for (; power < count; power *= 10) {
        const std::string name = "d" + std::to_string(power);
        sum += " + " + std::to_string(power) + " * " + name + ".d";
        digits += digits.empty() ? "" : " JOIN ";
        digits +=
            "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 "
            "UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 "
            "UNION ALL SELECT 8 UNION ALL SELECT 9) AS " +
            name;
    }
    const std::string all =
        "(SELECT " + sum + " AS seq" + (digits.empty() ? "" : " FROM " + digits) + ") AS numbers";
    return "(SELECT seq FROM " + all + " WHERE seq <= " + std::to_string(count) + ") AS counted";
}

std::int64_t entries_read(db::Tx& tx, std::string_view without) {
    static constexpr db::SystemSql kReads{"test.entries_read",
                                          db::Why{"a test looks at its own session"},
                                          "SHOW SESSION STATUS LIKE 'Handler_read%'"};
    std::int64_t sum = 0;
    for (auto rows = tx.query(kReads); rows.next();) {
        if (rows.bytes(1).find(without) == std::string::npos) sum += std::stoll(rows.bytes(2));
    }
    return sum;
}

const db::Sql& Client::statement(std::string_view text) {
    const auto [entry, is_new] = statements_.try_emplace(std::string(text));
    entry->second = {"test", entry->first};
    return entry->second;
}

DatabaseContext::DatabaseContext(const db::ConnectionSettings& with)
    : database(with), context{database, settings(), KeyRing(settings().security.key)} {}

Fixture::Fixture() {
    client.run("SET FOREIGN_KEY_CHECKS = 0");
    for (const std::string& table :
         client.column("SELECT table_name FROM information_schema.tables "
                       "WHERE table_schema = DATABASE() AND table_name <> 'schema_version'")) {
        client.run("DELETE FROM " + table);
    }
    client.run("SET FOREIGN_KEY_CHECKS = 1");
}

OrgId Fixture::organization(std::string_view name) {
    return service::create_organization(context, name, service::StarterAttributes::Disabled).id;
}

void Fixture::lock_counts(OrgId locked) {
    client.execute(
        "INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
        "VALUES (?, ?, 'issued_keys', 0, 0) ON DUPLICATE KEY UPDATE amount = amount",
        locked, rules::quota_day_of(Timestamp::now()));
}

InstallationId Fixture::install(OrgId organization, std::string_view slug) {
    const auto module = ModuleId::create();
    const auto version = VersionId::create();
    const auto installation = InstallationId::create();
    const Timestamp now = Timestamp::now();
    client.execute(
        "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, "
        "current_version_id, created_at, updated_at) "
        "VALUES (?, ?, ?, 'Shop', 'V', 'proprietary', 'published', ?, ?, ?)",
        organization, module, slug, version, now, now);
    client.execute(
        "INSERT INTO module_versions (organization_id, id, module_id, version, manifest, status, "
        "published_at, created_at, updated_at) VALUES (?, ?, ?, '1', '{}', 'published', ?, ?, ?)",
        organization, version, module, now, now, now);
    client.execute(
        "INSERT INTO module_installations (organization_id, id, module_id, version_id, status, "
        "config, installed_at, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, 'enabled', '{}', ?, ?, ?)",
        organization, installation, module, version, now, now, now);
    return installation;
}

}  // namespace muster::test
