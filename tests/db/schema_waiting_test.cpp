// service/operations/schema.hpp upgrade_schema and concurrency: another upgrade, a lost connection,
// and transactions that keep a table open. Neither the upgrade nor the requests behind it may wait
// long for them.
#include "db/upgrade_database.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>

using namespace muster::test;
namespace service = muster::service;

namespace {

using Seconds = std::chrono::duration<double>;

// An OldDatabase in which another transaction keeps the table admins open, so that the first ALTER
// waits.
struct HeldDatabase : OldDatabase {
    HeldDatabase() : holder(connection()) {
        std::filesystem::create_directory(scratch.file("upgrades"));
        for (int version = 2; version <= kNewest; ++version) {
            scratch.write("upgrades/" + std::to_string(version) + ".sql",
                          "-- oldest program: 6\n" + (version == 2 ? kFirst : std::string()) +
                              (version == muster::store::kFirstVersionWithPrograms
                                   ? source_text(upgrade_file(version))
                                   : std::string()));
        }
        settings.files.sql = scratch.file("");
        holder.run("START TRANSACTION");
        holder.value("SELECT COUNT(*) FROM admins");
    }
    bool is_upgraded() {
        return client->number(
                   "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema "
                   "= DATABASE() AND table_name = 'admins' AND column_name = 'a'") == 1;
    }

    inline static const std::string kFirst =
        "ALTER TABLE organizations ADD COLUMN b INT NULL;\n"
        "ALTER TABLE admins ADD COLUMN a INT NULL, ALGORITHM = INSTANT;\n";
    Scratch scratch;
    Client holder;
};

// The duration of `call`.
template <class Call>
Seconds taken(const Call& call) {
    const auto began = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - began;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_waiting)

BOOST_AUTO_TEST_CASE(a_second_upgrade_of_the_same_database_is_rejected) {
    HeldDatabase target;
    auto running =
        std::async(std::launch::async, [&] { return service::upgrade_schema(*target.context); });
    BOOST_TEST(until([&] { return target.upgrading().has_value(); }));
    BOOST_CHECK_EXCEPTION(target.upgrade_elsewhere(), std::runtime_error,
                          [](const auto& error) { return says(error, "another"); });
    BOOST_TEST(!target.is_upgraded());
    target.holder.run("COMMIT");
    BOOST_TEST(running.get().upgrades.size() == kNewest - 1);
    BOOST_TEST(target.is_upgraded());
    BOOST_TEST(target.upgrade_elsewhere().upgrades.empty());  // the lock is free again
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_loses_its_connection_continues) {
    HeldDatabase target;
    Client watcher;
    auto running =
        std::async(std::launch::async, [&] { return service::upgrade_schema(*target.context); });
    BOOST_TEST(until([&] {
        return target.upgrading() &&
               target.client->number(
                   "SELECT COUNT(*) FROM information_schema.columns WHERE "
                   "table_schema = DATABASE() AND table_name = 'organizations' "
                   "AND column_name = 'b'") == 1;
    }));
    const std::int64_t lost = target.upgrading().value();
    watcher.kill(lost);
    BOOST_TEST(until([&] { return target.upgrading() && target.upgrading() != lost; }));
    target.holder.run("COMMIT");
    BOOST_TEST(running.get().upgrades.at(0).done_before == 1);
    BOOST_TEST(target.is_upgraded());
}

// The server releases the lock of a lost connection when it notices the loss, possibly later than
// the program does.
BOOST_AUTO_TEST_CASE(an_upgrade_waits_until_the_server_releases_its_lost_connection) {
    HeldDatabase target;
    Client watcher;
    std::optional<Client> slow(std::in_place, target.connection());  // keeps its connection open
    auto running =
        std::async(std::launch::async, [&] { return service::upgrade_schema(*target.context); });
    BOOST_TEST(until([&] { return target.upgrading().has_value(); }));
    auto taking = std::async(std::launch::async, [&] {
        return slow->number(
            "SELECT GET_LOCK(CONCAT('muster.schema.', LEFT(SHA2(DATABASE(), 256), 32)), 30)");
    });
    BOOST_TEST(until([&] {
        return watcher.number(
                   "SELECT COUNT(*) FROM information_schema.processlist "
                   "WHERE db = ? AND state LIKE 'User lock%'",
                   target.settings.database.name) == 1;
    }));
    watcher.kill(target.upgrading().value());
    BOOST_TEST(taking.get() == 1);
    BOOST_TEST(until([&] {
        return watcher.number(
                   "SELECT COUNT(*) FROM information_schema.processlist "
                   "WHERE db = ? AND state LIKE 'User lock%'",
                   target.settings.database.name) == 1;
    }));
    target.holder.run("COMMIT");
    slow.reset();
    BOOST_TEST(running.get().upgrades.size() == kNewest - 1);
}

BOOST_AUTO_TEST_CASE(a_blocked_table_is_reported_with_the_blocking_connection) {
    HeldDatabase target;
    const service::MigrationTimeouts brief{
        .lock_seconds = 1, .lock_attempts = 2, .pause = muster::Milliseconds(10)};
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context, brief), std::runtime_error,
                          [&](const auto& error) {
                              return says(error, "upgrade to version 2, statement 2 of 2") &&
                                     says(error,
                                          "connection " + std::to_string(target.holder.id())) &&
                                     says(error, "run `musterctl db migrate` again");
                          });
    BOOST_TEST(!target.is_upgraded());
    BOOST_TEST(!target.upgrading());
    target.holder.run("COMMIT");
    BOOST_TEST(service::upgrade_schema(*target.context, brief).upgrades.at(0).done_before == 1);
    BOOST_TEST(target.is_upgraded());
}

BOOST_AUTO_TEST_CASE(requests_behind_a_waiting_upgrade_are_not_blocked) {
    HeldDatabase target;
    Client guest(target.connection());
    Client watcher;
    auto running =
        std::async(std::launch::async, [&] { return service::upgrade_schema(*target.context); });
    const auto is_waiting = [&] {
        return watcher.number(
                   "SELECT COUNT(*) FROM information_schema.processlist "
                   "WHERE db = ? AND state LIKE 'Waiting for table metadata lock%'",
                   target.settings.database.name) > 0;
    };
    for (int round = 0; round < 2; ++round) {
        BOOST_TEST(until(is_waiting));
        const Seconds waited = taken([&] { guest.value("SELECT COUNT(*) FROM admins"); });
        // The limit of the migration, and a margin for a busy machine.
        BOOST_TEST(waited.count() < 4.5);
        BOOST_TEST(!target.is_upgraded());
    }
    target.holder.run("COMMIT");
    running.get();
    BOOST_TEST(target.is_upgraded());
}

BOOST_AUTO_TEST_SUITE_END()
