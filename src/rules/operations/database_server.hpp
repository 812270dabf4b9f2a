// Whether a database server is one that keeps what Muster promises: its version, and the settings
// that lose data or break imports (docs/operations/database.md "Database").
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// Those that are judged.
inline constexpr std::array kJudgedSettings = {"innodb_flush_log_at_trx_commit",
                                               "sync_binlog",
                                               "log_bin",
                                               "binlog_format",
                                               "max_allowed_packet",
                                               "read_only"};

struct DatabaseServer {
    bool is_mariadb = true;
    std::string version;  // "10.11.6-MariaDB-1", "9.7.4-1"
    // As the server spells them ("ON", "16777216"); one that it does not have is missing.
    std::map<std::string, std::string, std::less<>> settings;
};

// "MySQL 9.7.4-1".
[[nodiscard]] std::string name_of(const DatabaseServer& server);

// What is wrong and how it should be, a sentence each; none for a server that is fit.
[[nodiscard]] std::vector<std::string> faults_of(const DatabaseServer& server);

}  // namespace muster::rules
