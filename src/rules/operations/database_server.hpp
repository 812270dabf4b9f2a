// Checks whether a database server can keep Muster's guarantees: its version, and the settings that
// can lose data or break imports (docs/operations/database.md "Database").
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// The settings that are checked.
inline constexpr std::array kCheckedSettings = {"innodb_flush_log_at_trx_commit",
                                                "sync_binlog",
                                                "log_bin",
                                                "binlog_format",
                                                "max_allowed_packet",
                                                "max_prepared_stmt_count",
                                                "read_only"};

struct DatabaseServer {
    bool is_mariadb = true;
    std::string version;  // "10.11.6-MariaDB-1", "9.7.4-1"
    // Values as the server prints them ("ON", "16777216"). A setting that the server does not have
    // is missing.
    std::map<std::string, std::string, std::less<>> settings;
};

// "MySQL 9.7.4-1".
[[nodiscard]] std::string name_of(const DatabaseServer& server);

// The faults, with the correct value, a sentence each. Empty if there are none.
[[nodiscard]] std::vector<std::string> faults_of(const DatabaseServer& server);

// The warning about an address on another host without TLS, or "". `urls`: unix:PATH or
// tcp://HOST:PORT. A loopback address may lead to a proxy that encrypts, so it is not reported.
[[nodiscard]] std::string encryption_warning(const std::vector<std::string>& urls,
                                             std::string_view tls_ca);

}  // namespace muster::rules
