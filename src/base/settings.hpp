// The installation's configuration (muster.conf): one table in settings.cpp says every key's name,
// type, default, range and meaning; it parses the file, prints the shipped one and makes the man
// page.
#pragma once

#include "base/crypto.hpp"

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

// A section [providers.<id>]: how this installation speaks to one of the providers of external data
// (rules/connections/providers.hpp). What is empty is as the provider's row has it.
struct ProviderSettings {
    std::string client_id;
    Secret client_secret;
    std::string host;
    std::string scopes;
    std::string authorize_url;
    std::string token_url;
    std::string issuer;
    std::string lookup_url;
    std::string revoke_url;
    std::string ca_file;
};

struct Settings {
    std::string database_url;
    std::string database_name;
    std::string database_user;
    Secret database_password;
    std::string database_tls_ca;
    int database_connect_timeout = 0;
    int database_read_timeout = 0;
    int database_idle_timeout = 0;

    std::string server_socket;
    std::string server_socket_mode;
    int server_workers = 0;
    std::string server_collector_socket;
    int server_collectors = 0;
    int server_recycle_requests = 0;
    int server_recycle_memory = 0;
    int server_stale_after = 0;
    std::string server_base_url;

    int limits_key_rate = 0;
    int limits_key_burst = 0;
    int limits_tracking_rate = 0;
    int limits_tracking_burst = 0;
    int limits_otp_requests = 0;

    std::string console_origin;

    int jobs_connections = 0;
    int jobs_lease = 0;
    int jobs_attempts = 0;
    int jobs_audit_days = 0;
    int jobs_engagement_days = 0;

    std::string mail_url;
    std::string mail_from;
    std::string mail_user;
    Secret mail_password;
    std::string mail_tls;
    std::string mail_ca_file;

    std::string webhooks_loopback;
    int webhooks_connections = 0;
    int webhooks_endpoint_connections = 0;
    std::string webhooks_ca_file;
    std::string webhooks_dns;

    std::map<std::string, ProviderSettings, std::less<>> providers;  // by id; only those given

    Secret security_key;
    Secret security_previous_key;

    std::string log_level;

    std::string sql_directory;
};

// "file:line: reason", for the person who edits the file.
struct SettingsError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reads the file and the environment (MUSTER_<SECTION>_<KEY> wins; a value `file:/path` is read
// from there where the key is a secret). Throws SettingsError for an unknown section or key, a
// value out of range, a secret that cannot be read. `providers`: the ids that [providers.<id>] may
// name.
Settings load_settings(const std::string& path, std::span<const std::string_view> providers);

// The file as shipped: each key commented out with its default and its meaning.
std::string shipped_settings(std::span<const std::string_view> providers);

// OPTIONS of muster.conf(5), in man macros.
std::string settings_manual(std::span<const std::string_view> providers);

inline constexpr std::string_view kDefaultSettingsPath = "/etc/muster/muster.conf";

}  // namespace muster
