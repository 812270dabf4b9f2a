#include "base/settings.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <variant>
#include <vector>

namespace muster {
namespace {

using Member = std::variant<std::string Settings::*, int Settings::*, Secret Settings::*>;

struct Setting {
    std::string_view section;
    std::string_view key;
    Member member;
    std::string_view fallback;
    int least;  // of a number
    int most;
    std::string_view meaning;
};

// How to add a setting: a member in settings.hpp, a row here, a sentence in `meaning`; then
// `musterd --print-config` and the man page have it, and the lint compares them.
const std::vector<Setting> kSettings = {
    {"database", "url", &Settings::database_url, "unix:/run/mysqld/mysqld.sock", 0, 0,
     "Where the database answers: unix:PATH or tcp://HOST:PORT; several, separated by commas, are "
     "tried in turn."},
    {"database", "name", &Settings::database_name, "muster", 0, 0,
     "The database that holds the tables."},
    {"database", "user", &Settings::database_user, "muster", 0, 0, "The database user."},
    {"database", "password", &Settings::database_password, "", 0, 0,
     "Its password; file:/path reads it from a file. Empty with unix_socket authentication."},
    {"database", "tls_ca", &Settings::database_tls_ca, "", 0, 0,
     "A PEM file with the authority that signed the server's certificate; empty: no TLS. Not used "
     "on Unix sockets."},
    {"database", "connect_timeout", &Settings::database_connect_timeout, "5", 1, 60,
     "Seconds to wait for a connection."},
    {"database", "read_timeout", &Settings::database_read_timeout, "60", 1, 600,
     "Seconds to wait for a statement's answer."},
    {"database", "idle_timeout", &Settings::database_idle_timeout, "60", 5, 28800,
     "Seconds after which the server drops a connection that says nothing, with the locks of a program that froze."},
    {"server", "socket", &Settings::server_socket, "/run/muster.socket", 0, 0,
     "The Unix socket on which nginx reaches musterd; not used under systemd socket activation."},
    {"server", "socket_mode", &Settings::server_socket_mode, "0660", 0, 0,
     "Its permissions, octal."},
    {"server", "workers", &Settings::server_workers, "8", 1, 256,
     "Worker processes, one request and one database connection each."},
    {"server", "collector_socket", &Settings::server_collector_socket,
     "/run/muster-collector.socket", 0, 0,
     "The Unix socket for /v1/track and /v1/ingest, whose requests are written together; not used under systemd socket "
     "activation."},
    {"server", "collectors", &Settings::server_collectors, "2", 1, 64,
     "Worker processes behind it; each takes all requests that wait, up to 64 at once."},
    {"server", "recycle_requests", &Settings::server_recycle_requests, "100000", 100, 100000000,
     "Requests after which a worker is replaced."},
    {"server", "recycle_memory", &Settings::server_recycle_memory, "256", 32, 65536,
     "MiB of memory above which a worker is replaced."},
    {"server", "stale_after", &Settings::server_stale_after, "30", 1, 600,
     "A request that waited this many seconds for a worker is answered 503: its client has gone."},
    {"server", "base_url", &Settings::server_base_url, "https://localhost", 0, 0,
     "The address that clients know, for the OpenAPI description."},
    {"limits", "key_rate", &Settings::limits_key_rate, "100", 1, 100000,
     "Requests a second of one organization key or one admin session, unless a key has its own."},
    {"limits", "key_burst", &Settings::limits_key_burst, "200", 1, 100000,
     "How many of them may come at once."},
    {"limits", "tracking_rate", &Settings::limits_tracking_rate, "100", 1, 100000,
     "Requests a second of one tracking key, unless it has its own rate."},
    {"limits", "tracking_burst", &Settings::limits_tracking_burst, "200", 1, 100000,
     "How many of them may come at once."},
    {"limits", "otp_requests", &Settings::limits_otp_requests, "10", 1, 100000,
     "Sign-in codes that one client address may request a minute."},
    {"jobs", "connections", &Settings::jobs_connections, "3", 1, 16,
     "Database connections that the work on one import uses at once."},
    {"jobs", "lease", &Settings::jobs_lease, "20", 5, 600,
     "Seconds after which a job whose runner died is taken over."},
    {"jobs", "attempts", &Settings::jobs_attempts, "5", 1, 100,
     "A job that made no progress in this many attempts is given up."},
    {"jobs", "audit_days", &Settings::jobs_audit_days, "400", 1, 36500,
     "Days that an entry of the audit log is kept."},
    {"jobs", "engagement_days", &Settings::jobs_engagement_days, "0", 0, 36500,
     "Days that an engagement event is kept after it was received; 0: for ever."},
    {"mail", "url", &Settings::mail_url, "smtp://localhost:25", 0, 0,
     "The mail server that takes our mail: smtp://HOST:PORT, or smtps://HOST:PORT for TLS from the first byte."},
    {"mail", "from", &Settings::mail_from, "muster@localhost", 0, 0,
     "The address that mail comes from."},
    {"mail", "user", &Settings::mail_user, "", 0, 0,
     "The name to sign in with at the mail server; empty: no sign-in."},
    {"mail", "password", &Settings::mail_password, "", 0, 0,
     "Its password; file:/path reads it from a file. With tls = try it is sent over TLS only."},
    {"mail", "tls", &Settings::mail_tls, "try", 0, 0,
     "STARTTLS with smtp://: none, try (where the server offers it) or require. The certificate is verified, except by try "
     "on the loopback without a user."},
    {"mail", "ca_file", &Settings::mail_ca_file, "", 0, 0,
     "A PEM file with the authority that signed the mail server's certificate; empty: the system's."},
    {"webhooks", "loopback", &Settings::webhooks_loopback, "no", 0, 0,
     "Whether endpoints may be http:// on a loopback address: no, or yes for tests. Else only https:// and public addresses."},
    {"webhooks", "connections", &Settings::webhooks_connections, "512", 2, 8192,
     "Deliveries that one runner has under way at once; at most half of them go to endpoints that fail."},
    {"webhooks", "endpoint_connections", &Settings::webhooks_endpoint_connections, "8", 1, 256,
     "How many of them go to one endpoint; to one that fails, one."},
    {"webhooks", "ca_file", &Settings::webhooks_ca_file, "", 0, 0,
     "A PEM file with the authorities that may sign an endpoint's certificate; empty: the system's."},
    {"webhooks", "dns", &Settings::webhooks_dns, "", 0, 0,
     "Name servers for the names of endpoints, ADDRESS[:PORT], separated by commas; empty: the system's."},
    {"console", "origin", &Settings::console_origin, "https://localhost", 0, 0,
     "The origin of the console, https://HOST[:PORT]: what only the console may do is refused to pages of any other."},
    {"security", "key_file", &Settings::security_key, "file:/etc/muster/muster.key", 0, 0,
     "The installation's key: a file of 32 random bytes or more (head -c 32 /dev/urandom)."},
    {"security", "previous_key_file", &Settings::security_previous_key, "", 0, 0,
     "The key before, while a rotation runs: what it sealed can still be opened. Empty: none."},
    {"log", "level", &Settings::log_level, "info", 0, 0, "debug, info, warning or error."},
    {"files", "sql", &Settings::sql_directory, "/usr/share/muster/sql", 0, 0,
     "Where musterctl finds schema.sql and the upgrades."},
};

constexpr std::size_t kLeastKeyBytes = 32;

[[noreturn]] void refuse(const std::string& where, const std::string& reason) {
    throw SettingsError(where + ": " + reason);
}

std::string read_secret(const std::string& where, const std::string& value) {
    constexpr std::string_view kFile = "file:";
    // key_file is a path by nature: there the prefix may be left out.
    const std::string path = value.starts_with(kFile) ? value.substr(kFile.size()) : value;
    std::ifstream in(path, std::ios::binary);
    in.peek();
    if (!in.good()) refuse(where, "cannot read " + path);  // not there, a folder, or empty
    std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return content;
}

void assign_number(Settings& settings, const Setting& setting, int Settings::*member,
                   const std::string& value, const std::string& where) {
    const auto number = parse_number<int>(value);
    if (!number || *number < setting.least || *number > setting.most) {
        refuse(where, std::string(setting.key) + " wants a number from " +
                          std::to_string(setting.least) + " to " + std::to_string(setting.most));
    }
    settings.*member = *number;
}

// For what goes into a mail's head or an SMTP command: one word of printable ASCII.
bool is_plain_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '"';
    });
}

// SCHEME://HOST[:PORT]; a name and a password have settings of their own.
bool is_mail_url(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos || !is_plain_word(url)) return false;
    const std::string_view host = url.substr(scheme + 3);
    return (url.starts_with("smtp://") || url.starts_with("smtps://")) && !host.empty() &&
           host.front() != ':' && host.find_first_of("@/?#") == std::string_view::npos;
}

bool is_sender(std::string_view address) {
    const auto at = address.find('@');
    return is_plain_word(address) && at != std::string_view::npos && at > 0 &&
           at + 1 < address.size() && address.find('@', at + 1) == std::string_view::npos;
}

// What is wrong with a setting of [mail]; "" when nothing is.
std::string_view fault_in_mail(const Setting& setting, const std::string& value) {
    static const std::set<std::string> kTls = {"none", "try", "require"};
    if (setting.key == "url" && !is_mail_url(value)) {
        return "mail.url wants smtp://HOST:PORT or smtps://HOST:PORT";
    }
    if (setting.key == "from" && !is_sender(value)) {
        return "mail.from wants an address such as muster@example.org";
    }
    if (setting.key == "tls" && !kTls.contains(value)) {
        return "mail.tls wants none, try or require";
    }
    return "";
}

// As browsers write one: lower case, no path.
bool is_origin(std::string_view text) {
    const auto scheme = text.find("://");
    if (!text.starts_with("http://") && !text.starts_with("https://")) return false;
    const std::string_view host = text.substr(scheme + 3);
    return is_plain_word(host) && host.find_first_of("/?#@*") == std::string_view::npos &&
           std::none_of(host.begin(), host.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// What is wrong with a text or a secret; "" when nothing is.
std::string_view fault_in(const Setting& setting, const std::string& value) {
    if (setting.section == "mail") return fault_in_mail(setting, value);
    static const std::set<std::string> kLevels = {"debug", "info", "warning", "error"};
    if (setting.key == "level" && !kLevels.contains(value)) {
        return "log.level wants debug, info, warning or error";
    }
    if (setting.key == "loopback" && value != "yes" && value != "no") {
        return "webhooks.loopback wants yes or no";
    }
    if (setting.key == "origin" && !is_origin(value)) {
        return "console.origin wants https://HOST[:PORT], in lower case and without a path";
    }
    const bool is_octal = !value.empty() && value.size() <= 4 &&
                          value.find_first_not_of("01234567") == std::string::npos;
    if (setting.key == "socket_mode" && !is_octal) {
        return "server.socket_mode wants octal permissions such as 0660";
    }
    if (setting.key.ends_with("key_file") && value.size() < kLeastKeyBytes) {
        return "security.key_file and previous_key_file want a file of at least 32 bytes";
    }
    return "";
}

void assign(Settings& settings, const Setting& setting, const std::string& value,
            const std::string& where) {
    if (const auto* number = std::get_if<int Settings::*>(&setting.member)) {
        assign_number(settings, setting, *number, value, where);
    } else if (const auto* secret = std::get_if<Secret Settings::*>(&setting.member)) {
        const bool is_file = value.starts_with("file:") || setting.key.ends_with("key_file");
        if (value.empty() && setting.fallback.empty()) return;
        std::string text = is_file ? read_secret(where, value) : value;
        if (setting.key == "password") text = trimmed(text);
        if (const auto fault = fault_in(setting, text); !fault.empty())
            refuse(where, std::string(fault));
        settings.** secret = Secret(std::move(text));
    } else {
        if (const auto fault = fault_in(setting, value); !fault.empty())
            refuse(where, std::string(fault));
        settings.*std::get<std::string Settings::*>(setting.member) = value;
    }
}

const Setting* find_setting(std::string_view section, std::string_view key) {
    for (const Setting& setting : kSettings) {
        if (setting.section == section && setting.key == key) return &setting;
    }
    return nullptr;
}

std::string environment_name(const Setting& setting) {
    std::string name = "MUSTER_" + std::string(setting.section) + "_" + std::string(setting.key);
    ascii_upper(name);
    return name;
}

// Reads a settings file line by line into `settings`.
class FileReader {
  public:
    FileReader(Settings& settings, std::set<const Setting*>& given)
        : settings_(settings), given_(given) {}

    // `where`: "file:line".
    void read(std::string_view line, const std::string& where) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#' || text.front() == ';') return;
        if (text.front() == '[' && text.back() == ']') {
            begin_section(text.substr(1, text.size() - 2), where);
        } else {
            read_key(text, where);
        }
    }

  private:
    void begin_section(std::string_view name, const std::string& where) {
        section_ = name;
        const bool known =
            std::any_of(kSettings.begin(), kSettings.end(),
                        [&](const Setting& setting) { return setting.section == name; });
        if (!known) refuse(where, "unknown section [" + section_ + "]");
    }

    void read_key(std::string_view text, const std::string& where) {
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) refuse(where, "neither [section] nor key = value");
        const std::string key(trimmed(text.substr(0, equals)));
        const Setting* setting = find_setting(section_, key);
        if (!setting) {
            std::string reason = "unknown key ";
            refuse(where, reason.append(key).append(" in [").append(section_).append("]"));
        }
        if (!given_.insert(setting).second) refuse(where, key + " is given twice");
        if (std::getenv(environment_name(*setting).c_str())) return;  // the environment wins
        assign(settings_, *setting, std::string(trimmed(text.substr(equals + 1))), where);
    }

    Settings& settings_;
    std::set<const Setting*>& given_;
    std::string section_;
};

}  // namespace

Settings load_settings(const std::string& path) {
    std::ifstream in(path);
    in.peek();  // a folder opens, but cannot be read
    if (!in.is_open() || in.bad()) refuse(path, "cannot be read");
    in.clear();
    Settings settings;
    std::set<const Setting*> given;
    FileReader reader(settings, given);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        reader.read(line, path + ":" + std::to_string(number));
    }
    for (const Setting& setting : kSettings) {
        const std::string name = environment_name(setting);
        if (const char* value = std::getenv(name.c_str())) {
            assign(settings, setting, value, name);
        } else if (!given.contains(&setting)) {
            assign(settings, setting, std::string(setting.fallback), path);
        }
    }
    return settings;
}

std::string shipped_settings() {
    std::string text =
        "# Configuration of Muster: see muster.conf(5). Printed by `musterd --print-config`.\n"
        "# Each key is shown with its default. A key that is not known stops the start.\n"
        "# The environment wins over the file: MUSTER_<SECTION>_<KEY>.\n";
    std::string_view section;
    for (const Setting& setting : kSettings) {
        if (setting.section != section) {
            section = setting.section;
            text += "\n[" + std::string(section) + "]\n";
        }
        text.append("# ").append(setting.meaning).append("\n#").append(setting.key);
        text.append(" = ").append(setting.fallback).append("\n");
    }
    return text;
}

std::string settings_manual() {
    std::string text;
    std::string_view section;
    for (const Setting& setting : kSettings) {
        if (setting.section != section) {
            section = setting.section;
            text += ".SS [" + std::string(section) + "]\n";
        }
        text.append(".TP\n.B ")
            .append(setting.key)
            .append("\n")
            .append(setting.meaning)
            .append("\n");
        if (std::holds_alternative<int Settings::*>(setting.member)) {
            text += "From " + std::to_string(setting.least) + " to " +
                    std::to_string(setting.most) + ".\n";
        }
        const std::string fallback(setting.fallback);
        text += fallback.empty() ? "Empty by default.\n" : "Default: " + fallback + ".\n";
    }
    return text;
}

}  // namespace muster
