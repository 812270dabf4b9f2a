#include "base/settings.hpp"

#include "base/settings_checks.hpp"
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

using Value = std::variant<std::string*, int*, Secret*>;

template <auto section, auto member>
Value at(Settings& settings) {
    return &(settings.*section.*member);
}

struct Setting {
    std::string_view section;
    std::string_view key;
    Value (*value)(Settings&);
    std::string_view fallback;
    int least;  // of a number
    int most;
    std::string_view meaning;
};

// How to add a setting: a member in settings.hpp, a row here, a sentence in `meaning`; then
// `musterd --print-config` and the man page have it, and the lint compares them.
const std::vector<Setting> kSettings = {
    {"database", "url", at<&Settings::database, &DatabaseSettings::url>,
     "unix:/run/mysqld/mysqld.sock", 0, 0,
     "Where the database answers: unix:PATH or tcp://HOST:PORT; several, separated by commas, are "
     "tried in turn."},
    {"database", "name", at<&Settings::database, &DatabaseSettings::name>, "muster", 0, 0,
     "The database that holds the tables."},
    {"database", "user", at<&Settings::database, &DatabaseSettings::user>, "muster", 0, 0,
     "The database user."},
    {"database", "password", at<&Settings::database, &DatabaseSettings::password>, "", 0, 0,
     "Its password; file:/path reads it from a file. Empty with unix_socket authentication."},
    {"database", "tls_ca", at<&Settings::database, &DatabaseSettings::tls_ca>, "", 0, 0,
     "A PEM file with the authority that signed the server's certificate; empty: no TLS. Not used "
     "on Unix sockets."},
    {"database", "connect_timeout", at<&Settings::database, &DatabaseSettings::connect_timeout>,
     "5", 1, 60, "Seconds to wait for a connection."},
    {"database", "read_timeout", at<&Settings::database, &DatabaseSettings::read_timeout>, "60", 1,
     600, "Seconds to wait for a statement's answer."},
    {"database", "idle_timeout", at<&Settings::database, &DatabaseSettings::idle_timeout>, "60", 5,
     28800,
     "Seconds after which the server drops a connection that says nothing, with the locks of a program that froze."},
    {"server", "socket", at<&Settings::server, &ServerSettings::socket>, "/run/muster.socket", 0, 0,
     "The Unix socket on which nginx reaches musterd; not used under systemd socket activation."},
    {"server", "socket_mode", at<&Settings::server, &ServerSettings::socket_mode>, "0660", 0, 0,
     "Its permissions, octal."},
    {"server", "workers", at<&Settings::server, &ServerSettings::workers>, "8", 1, 256,
     "Worker processes, one request and one database connection each."},
    {"server", "collector_socket", at<&Settings::server, &ServerSettings::collector_socket>,
     "/run/muster-collector.socket", 0, 0,
     "The Unix socket for /v1/track and /v1/ingest, whose requests are written together; not used under systemd socket "
     "activation."},
    {"server", "collectors", at<&Settings::server, &ServerSettings::collectors>, "2", 1, 64,
     "Worker processes behind it; each takes all requests that wait, up to 64 at once."},
    {"server", "recycle_requests", at<&Settings::server, &ServerSettings::recycle_requests>,
     "100000", 100, 100000000, "Requests after which a worker is replaced."},
    {"server", "recycle_memory", at<&Settings::server, &ServerSettings::recycle_memory>, "256", 32,
     65536, "MiB of memory above which a worker is replaced."},
    {"server", "stale_after", at<&Settings::server, &ServerSettings::stale_after>, "30", 1, 600,
     "A request that waited this many seconds for a worker is answered 503: its client has gone."},
    {"server", "base_url", at<&Settings::server, &ServerSettings::base_url>, "https://localhost", 0,
     0, "The address that clients know, for the OpenAPI description."},
    {"limits", "key_rate", at<&Settings::limits, &LimitsSettings::key_rate>, "100", 1, 100000,
     "Requests a second of one organization key or one admin session, unless a key has its own."},
    {"limits", "key_burst", at<&Settings::limits, &LimitsSettings::key_burst>, "200", 1, 100000,
     "How many of them may come at once."},
    {"limits", "tracking_rate", at<&Settings::limits, &LimitsSettings::tracking_rate>, "100", 1,
     100000, "Requests a second of one tracking key, unless it has its own rate."},
    {"limits", "tracking_burst", at<&Settings::limits, &LimitsSettings::tracking_burst>, "200", 1,
     100000, "How many of them may come at once."},
    {"limits", "otp_requests", at<&Settings::limits, &LimitsSettings::otp_requests>, "10", 1,
     100000, "Sign-in codes that one client address may request a minute."},
    {"jobs", "connections", at<&Settings::jobs, &JobsSettings::connections>, "3", 1, 16,
     "Database connections that the work on one import uses at once."},
    {"jobs", "lease", at<&Settings::jobs, &JobsSettings::lease>, "20", 5, 600,
     "Seconds after which a job whose runner died is taken over."},
    {"jobs", "attempts", at<&Settings::jobs, &JobsSettings::attempts>, "5", 1, 100,
     "A job that made no progress in this many attempts is given up."},
    {"jobs", "audit_days", at<&Settings::jobs, &JobsSettings::audit_days>, "400", 1, 36500,
     "Days that an entry of the audit log is kept."},
    {"jobs", "engagement_days", at<&Settings::jobs, &JobsSettings::engagement_days>, "0", 0, 36500,
     "Days that an engagement event is kept after it was received; 0: for ever."},
    {"mail", "url", at<&Settings::mail, &MailSettings::url>, "smtp://localhost:25", 0, 0,
     "The mail server that takes our mail: smtp://HOST:PORT, or smtps://HOST:PORT for TLS from the first byte."},
    {"mail", "from", at<&Settings::mail, &MailSettings::from>, "muster@localhost", 0, 0,
     "The address that mail comes from."},
    {"mail", "user", at<&Settings::mail, &MailSettings::user>, "", 0, 0,
     "The name to sign in with at the mail server; empty: no sign-in."},
    {"mail", "password", at<&Settings::mail, &MailSettings::password>, "", 0, 0,
     "Its password; file:/path reads it from a file. With tls = try it is sent over TLS only."},
    {"mail", "tls", at<&Settings::mail, &MailSettings::tls>, "try", 0, 0,
     "STARTTLS with smtp://: none, try (where the server offers it) or require. The certificate is verified, except by try "
     "on the loopback without a user."},
    {"mail", "ca_file", at<&Settings::mail, &MailSettings::ca_file>, "", 0, 0,
     "A PEM file with the authority that signed the mail server's certificate; empty: the system's."},
    {"webhooks", "loopback", at<&Settings::webhooks, &WebhooksSettings::loopback>, "no", 0, 0,
     "Whether endpoints may be http:// on a loopback address: no, or yes for tests. Else only https:// and public addresses."},
    {"webhooks", "connections", at<&Settings::webhooks, &WebhooksSettings::connections>, "512", 2,
     8192,
     "Deliveries that one runner has under way at once; at most half of them go to endpoints that fail."},
    {"webhooks", "endpoint_connections",
     at<&Settings::webhooks, &WebhooksSettings::endpoint_connections>, "8", 1, 256,
     "How many of them go to one endpoint; to one that fails, one."},
    {"webhooks", "ca_file", at<&Settings::webhooks, &WebhooksSettings::ca_file>, "", 0, 0,
     "A PEM file with the authorities that may sign an endpoint's certificate; empty: the system's."},
    {"webhooks", "dns", at<&Settings::webhooks, &WebhooksSettings::dns>, "", 0, 0,
     "Name servers for the names of endpoints, ADDRESS[:PORT], separated by commas; empty: the system's."},
    {"console", "origin", at<&Settings::console, &ConsoleSettings::origin>, "https://localhost", 0,
     0,
     "The origin of the console, https://HOST[:PORT]: what only the console may do is refused to pages of any other."},
    {"security", "key_file", at<&Settings::security, &SecuritySettings::key>,
     "file:/etc/muster/muster.key", 0, 0,
     "The installation's key: a file of 32 random bytes or more (head -c 32 /dev/urandom)."},
    {"security", "previous_key_file", at<&Settings::security, &SecuritySettings::previous_key>, "",
     0, 0,
     "The key before, while a rotation runs: what it sealed can still be opened. Empty: none."},
    {"log", "level", at<&Settings::log, &LogSettings::level>, "info", 0, 0,
     "debug, info, warning or error."},
    {"files", "sql", at<&Settings::files, &FilesSettings::sql>, "/usr/share/muster/sql", 0, 0,
     "Where musterctl finds schema.sql and the upgrades."},
};

using ProviderMember = std::variant<std::string ProviderSettings::*, Secret ProviderSettings::*>;

struct ProviderSetting {
    std::string_view key;
    ProviderMember member;
    std::string_view meaning;
};

// The keys of each section [providers.<id>]; all are empty by default.
const std::vector<ProviderSetting> kProviderSettings = {
    {"client_id", &ProviderSettings::client_id,
     "The client id that the provider gave this installation."},
    {"client_secret", &ProviderSettings::client_secret,
     "Its secret; file:/path reads it from a file. With both, admins can connect the provider."},
    {"host", &ProviderSettings::host,
     "HOST[:PORT] of an installation of one's own, for the providers that have such."},
    {"scopes", &ProviderSettings::scopes,
     "What to ask for instead of what Muster asks for, separated by spaces."},
    {"authorize_url", &ProviderSettings::authorize_url,
     "Another address of the page on which admins consent."},
    {"token_url", &ProviderSettings::token_url, "Another address that gives tokens."},
    {"issuer", &ProviderSettings::issuer,
     "Another name that the provider calls itself by in its answers (RFC 9207)."},
    {"lookup_url", &ProviderSettings::lookup_url,
     "Another address that is asked about a new token, for the providers that need that."},
    {"revoke_url", &ProviderSettings::revoke_url,
     "Another address to which tokens are given back, for the providers that have one."},
    {"ca_file", &ProviderSettings::ca_file,
     "A PEM file with the authority that signed the certificate of these addresses; empty: the system's."},
};
constexpr std::string_view kProviderSections = "providers.";

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

void assign_number(int& to, const Setting& setting, const std::string& value,
                   const std::string& where) {
    const auto number = parse_number<int>(value);
    if (!number || *number < setting.least || *number > setting.most) {
        refuse(where, std::string(setting.key) + " wants a number from " +
                          std::to_string(setting.least) + " to " + std::to_string(setting.most));
    }
    to = *number;
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

// What is wrong with a key of a provider's; "" when nothing is.
std::string_view fault_in(const ProviderSetting& setting, const std::string& value) {
    if (value.empty()) return "";
    if (setting.key.ends_with("_url") && !is_secret_url(value)) {
        return "wants an address that begins with https:// (http:// on the loopback alone)";
    }
    if (setting.key == "host" && !is_host(value)) return "wants HOST or HOST:PORT";
    if (setting.key == "scopes") return is_scopes(value) ? "" : "wants words separated by spaces";
    const bool may_hold_signs = setting.key == "client_secret" || setting.key == "ca_file";
    return may_hold_signs || is_plain_word(value) ? "" : "wants one word of printable characters";
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
    const Value to = setting.value(settings);
    if (int* const* number = std::get_if<int*>(&to)) {
        assign_number(**number, setting, value, where);
    } else if (Secret* const* secret = std::get_if<Secret*>(&to)) {
        const bool is_file = value.starts_with("file:") || setting.key.ends_with("key_file");
        if (value.empty() && setting.fallback.empty()) return;
        std::string text = is_file ? read_secret(where, value) : value;
        if (setting.key == "password") text = trimmed(text);
        if (const auto fault = fault_in(setting, text); !fault.empty())
            refuse(where, std::string(fault));
        **secret = Secret(std::move(text));
    } else {
        if (const auto fault = fault_in(setting, value); !fault.empty())
            refuse(where, std::string(fault));
        *std::get<std::string*>(to) = value;
    }
}

void assign(ProviderSettings& settings, const ProviderSetting& setting, const std::string& value,
            const std::string& where) {
    const auto* secret = std::get_if<Secret ProviderSettings::*>(&setting.member);
    const std::string text = secret && value.starts_with("file:")
                                 ? std::string(trimmed(read_secret(where, value)))
                                 : value;
    if (const auto fault = fault_in(setting, text); !fault.empty()) {
        refuse(where, std::string(setting.key).append(" ").append(fault));
    }
    if (secret) {
        settings.** secret = Secret(text);
    } else {
        settings.*std::get<std::string ProviderSettings::*>(setting.member) = text;
    }
}

const Setting* find_setting(std::string_view section, std::string_view key) {
    for (const Setting& setting : kSettings) {
        if (setting.section == section && setting.key == key) return &setting;
    }
    return nullptr;
}

std::string environment_name(std::string_view section, std::string_view key) {
    std::string name = "MUSTER_" + std::string(section) + "_" + std::string(key);
    std::replace(name.begin(), name.end(), '.', '_');
    ascii_upper(name);
    return name;
}

std::string environment_name(const Setting& setting) {
    return environment_name(setting.section, setting.key);
}

std::string provider_section(std::string_view id) {
    return std::string(kProviderSections).append(id);
}

// Reads a settings file line by line into `settings`.
class FileReader {
  public:
    FileReader(Settings& settings, std::span<const std::string_view> providers)
        : settings_(settings), providers_(providers) {}

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

    bool was_given(std::string_view section, std::string_view key) const {
        return given_.contains(std::string(section).append(" ").append(key));
    }

  private:
    void begin_section(std::string_view name, const std::string& where) {
        section_ = name;
        provider_ = provider_of(name);
        const bool known = !provider_.empty() || std::any_of(kSettings.begin(), kSettings.end(),
                                                             [&](const Setting& setting) {
                                                                 return setting.section == name;
                                                             });
        if (!known) refuse(where, "unknown section [" + section_ + "]");
    }

    // The id of a known provider's section; "" for any other.
    std::string_view provider_of(std::string_view section) const {
        if (!section.starts_with(kProviderSections)) return "";
        const auto found = std::find(providers_.begin(), providers_.end(),
                                     section.substr(kProviderSections.size()));
        return found == providers_.end() ? "" : *found;
    }

    void read_key(std::string_view text, const std::string& where) {
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) refuse(where, "neither [section] nor key = value");
        const std::string key(trimmed(text.substr(0, equals)));
        const std::string value(trimmed(text.substr(equals + 1)));
        if (!given_.insert(section_ + " " + key).second) refuse(where, key + " is given twice");
        // The environment wins.
        const bool is_overridden = std::getenv(environment_name(section_, key).c_str()) != nullptr;
        const bool is_known = provider_.empty() ? read_setting(key, value, where, is_overridden)
                                                : read_provider(key, value, where, is_overridden);
        if (is_known) return;
        std::string reason = "unknown key ";
        refuse(where, reason.append(key).append(" in [").append(section_).append("]"));
    }

    bool read_setting(std::string_view key, const std::string& value, const std::string& where,
                      bool is_overridden) {
        const Setting* setting = find_setting(section_, key);
        if (setting && !is_overridden) assign(settings_, *setting, value, where);
        return setting != nullptr;
    }

    bool read_provider(std::string_view key, const std::string& value, const std::string& where,
                       bool is_overridden) {
        for (const ProviderSetting& setting : kProviderSettings) {
            if (setting.key != key) continue;
            if (!is_overridden) {
                assign(settings_.providers[std::string(provider_)], setting, value, where);
            }
            return true;
        }
        return false;
    }

    Settings& settings_;
    std::span<const std::string_view> providers_;
    std::set<std::string> given_;  // "section key"
    std::string section_;
    std::string_view provider_;  // the section is this one's; "" = no provider's
};

void read_environment(Settings& settings, std::span<const std::string_view> providers) {
    for (const std::string_view id : providers) {
        for (const ProviderSetting& setting : kProviderSettings) {
            const std::string name = environment_name(provider_section(id), setting.key);
            const char* value = std::getenv(name.c_str());
            if (value) assign(settings.providers[std::string(id)], setting, value, name);
        }
    }
}

}  // namespace

Settings load_settings(const std::string& path, std::span<const std::string_view> providers) {
    std::ifstream in(path);
    in.peek();  // a folder opens, but cannot be read
    if (!in.is_open() || in.bad()) refuse(path, "cannot be read");
    in.clear();
    Settings settings;
    FileReader reader(settings, providers);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        reader.read(line, path + ":" + std::to_string(number));
    }
    for (const Setting& setting : kSettings) {
        const std::string name = environment_name(setting);
        if (const char* value = std::getenv(name.c_str())) {
            assign(settings, setting, value, name);
        } else if (!reader.was_given(setting.section, setting.key)) {
            assign(settings, setting, std::string(setting.fallback), path);
        }
    }
    read_environment(settings, providers);
    return settings;
}

std::string shipped_settings(std::span<const std::string_view> providers) {
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
    text += "\n# Providers of external data: each of these sections takes the keys of the first.\n";
    for (const std::string_view id : providers) {
        text.append("[").append(provider_section(id)).append("]\n");
        if (id != providers.front()) continue;
        for (const ProviderSetting& setting : kProviderSettings) {
            text.append("# ").append(setting.meaning).append("\n#").append(setting.key);
            text.append(" =\n");
        }
    }
    return text;
}

std::string settings_manual(std::span<const std::string_view> providers) {
    std::string text;
    std::string_view section;
    for (const Setting& setting : kSettings) {
        if (setting.section != section) {
            section = setting.section;
            text += ".SS [" + std::string(section) + "]\n";
        }
        text.append(".TP\n.B ").append(setting.key).append("\n");
        text.append(setting.meaning).append("\n");
        if (setting.most > 0) {
            text += "From " + std::to_string(setting.least) + " to " +
                    std::to_string(setting.most) + ".\n";
        }
        const std::string fallback(setting.fallback);
        text += fallback.empty() ? "Empty by default.\n" : "Default: " + fallback + ".\n";
    }
    text +=
        ".SS [providers.<id>]\nA section for each provider of external data that admins may connect. The ids:\n";
    for (const std::string_view id : providers) {
        text.append(id).append(id == providers.back() ? ".\n" : ",\n");
    }
    for (const ProviderSetting& setting : kProviderSettings) {
        text.append(".TP\n.B ").append(setting.key).append("\n");
        text.append(setting.meaning).append("\nEmpty by default.\n");
    }
    return text;
}

}  // namespace muster
