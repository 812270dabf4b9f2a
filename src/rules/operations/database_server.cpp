#include "rules/operations/database_server.hpp"

#include "base/loopback.hpp"
#include "base/text.hpp"

#include <cstdint>
#include <utility>

namespace muster::rules {
namespace {

constexpr std::int64_t kSmallestPacket = std::int64_t{16} << 20U;
constexpr std::int64_t kFewestStatements = 16'382;  // the default of both servers

using Version = std::pair<int, int>;
constexpr Version kOldestMariaDb{10, 11};
constexpr Version kOldestMySql{8, 4};

std::string spelled(const Version& version) {
    return std::to_string(version.first) + "." + std::to_string(version.second);
}

// 0.0 if the text is not a version.
Version version_of(std::string_view text) {
    const auto parts = split(text.substr(0, text.find_first_not_of("0123456789.")), '.');
    if (parts.size() < 2) return {};
    return {parse_number<int>(parts[0]).value_or(0), parse_number<int>(parts[1]).value_or(0)};
}

std::string setting(const DatabaseServer& server, std::string_view name) {
    const auto found = server.settings.find(name);
    return found == server.settings.end() ? "" : found->second;
}

std::string version_fault(const DatabaseServer& server) {
    const Version oldest = server.is_mariadb ? kOldestMariaDb : kOldestMySql;
    if (version_of(server.version) >= oldest) return "";
    return name_of(server) + " is older than " + spelled(oldest) +
           ", the oldest version that Muster supports";
}

std::string commit_fault(const DatabaseServer& server) {
    const std::string value = setting(server, "innodb_flush_log_at_trx_commit");
    // MariaDB's 3 is at least as durable as 1.
    if (value.empty() || value == "1" || (value == "3" && server.is_mariadb)) return "";
    return "innodb_flush_log_at_trx_commit is " + value +
           ": a power failure can lose acknowledged writes; set it to 1";
}

// After a crash, InnoDB keeps a prepared transaction only if the binary log contains it.
std::string binary_log_fault(const DatabaseServer& server) {
    const std::string value = setting(server, "sync_binlog");
    if (setting(server, "log_bin") != "ON" || value.empty() || value == "1") return "";
    return "sync_binlog is " + value +
           " while log_bin is ON: a power failure can lose acknowledged writes; set it to 1";
}

std::string format_fault(const DatabaseServer& server) {
    const bool is_written = setting(server, "log_bin") == "ON";
    if (!is_written || setting(server, "binlog_format") != "STATEMENT") return "";
    return "binlog_format is STATEMENT: the server rejects every change by Muster, which uses "
           "READ COMMITTED; set it to ROW";
}

// "NAME is VALUE", then the effect, if the value is a number below `least`.
std::string fault_below(const DatabaseServer& server, const std::string& name, std::int64_t least,
                        const std::string& effect) {
    const std::string value = setting(server, name);
    const auto number = parse_number<std::int64_t>(value);
    if (!number || *number >= least) return "";
    return name + " is " + value + effect;
}

std::string packet_fault(const DatabaseServer& server) {
    return fault_below(server, "max_allowed_packet", kSmallestPacket,
                       " bytes: imports with large values fail; set it to 16M or more");
}

std::string statements_fault(const DatabaseServer& server) {
    return fault_below(server, "max_prepared_stmt_count", kFewestStatements,
                       ": requests under load can be answered with 503; set it to 16382 or more");
}

std::string replica_fault(const DatabaseServer& server) {
    const std::string value = setting(server, "read_only");
    if (value.empty() || value == "OFF") return "";
    return "read_only is " + value + ": this server accepts no changes; it may be a replica";
}

}  // namespace

std::string name_of(const DatabaseServer& server) {
    return (server.is_mariadb ? "MariaDB " : "MySQL ") + server.version;
}

std::string encryption_warning(const std::vector<std::string>& urls, std::string_view tls_ca) {
    if (!tls_ca.empty()) return "";
    for (const std::string& url : urls) {
        const std::string_view authority = authority_of(url);
        if (authority.empty() || is_loopback(authority)) continue;
        return "the connection to " + std::string(authority) +
               " is not encrypted: others on the network can read members and the password; "
               "set database.tls_ca";
    }
    return "";
}

std::vector<std::string> faults_of(const DatabaseServer& server) {
    std::vector<std::string> faults;
    for (const auto fault : {version_fault, commit_fault, binary_log_fault, format_fault,
                             packet_fault, statements_fault, replica_fault}) {
        if (std::string text = fault(server); !text.empty()) faults.push_back(std::move(text));
    }
    return faults;
}

}  // namespace muster::rules
