// The installation's configuration (muster.conf). base/settings/table.hpp has a row for each key:
// from the rows, the file is read and checked, and the shipped file and the man page are printed.
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

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

// A fault of the configuration, for the person who edits the file. All texts are printable.
struct SettingFault {
    std::string place;    // "file:line", the variable of the environment, or the file
    std::string setting;  // "server.workers"; "" where the line names no setting
    std::string reason;   // what was received and what is allowed; never a secret

    std::string text() const { return place + ": " + reason; }
};

// The faults in the order of the file. what() is one line with all of them.
struct SettingsError : std::runtime_error {
    static constexpr std::size_t kMost = 20;

    // At least one. Only the first kMost are kept.
    explicit SettingsError(std::vector<SettingFault> all);

    std::vector<SettingFault> faults;
    std::size_t left_out = 0;
};

// Ignore: for a program that decrypts nothing, and may not be able to read the installation's keys.
enum class KeyFiles { Read, Ignore };

// Reads the file and the environment; MUSTER_<SECTION>_<KEY> overrides the file. The value of a
// secret may be file:/path. Checks everything, and then throws SettingsError with every unknown
// section or key, invalid value, two sockets with the same path, and file that cannot be read.
// `providers`: the valid ids of [providers.<id>].
Settings load_settings(const std::string& path, std::span<const std::string_view> providers,
                       KeyFiles keys = KeyFiles::Read);

// The file as shipped: each key commented out with its default and its meaning.
std::string shipped_settings(std::span<const std::string_view> providers);

// OPTIONS of muster.conf(5), in man macros.
std::string settings_manual(std::span<const std::string_view> providers);

inline constexpr std::string_view kDefaultSettingsPath = "/etc/muster/muster.conf";

}  // namespace muster
