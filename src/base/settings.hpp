// The installation's configuration (muster.conf): one table in settings.cpp says every key's name,
// type, default, range and meaning; it parses the file, prints the shipped one and makes the man
// page.
#pragma once

#include "base/settings/console.hpp"
#include "base/settings/database.hpp"
#include "base/settings/files.hpp"
#include "base/settings/jobs.hpp"
#include "base/settings/limits.hpp"
#include "base/settings/log.hpp"
#include "base/settings/mail.hpp"
#include "base/settings/providers.hpp"
#include "base/settings/security.hpp"
#include "base/settings/server.hpp"
#include "base/settings/webhooks.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

struct Settings {
    DatabaseSettings database;
    ServerSettings server;
    LimitsSettings limits;
    JobsSettings jobs;
    MailSettings mail;
    WebhooksSettings webhooks;
    ConsoleSettings console;
    ProvidersSettings providers;
    SecuritySettings security;
    LogSettings log;
    FilesSettings files;
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
