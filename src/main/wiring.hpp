// Shared by the server's programs: the path of the configuration, and the parts that it configures.
#pragma once

#include "base/command_line.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/connections/providers.hpp"
#include "service/context.hpp"
#include "service/operations/database.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace muster::main_program {

inline std::string default_config() {
    const char* path = std::getenv("MUSTER_CONFIG");
    return path != nullptr && *path != '\0' ? path : std::string(kDefaultSettingsPath);
}

// The option of all server programs.
inline constexpr CommandOption kConfigOption{
    "--config", "FILE", "configuration (default $MUSTER_CONFIG or /etc/muster/muster.conf)"};

inline std::string config_of(const CommandLine& line) {
    return line.value(kConfigOption.name, default_config());
}

// The ids that [providers.<id>] of the configuration may have.
inline std::vector<std::string_view> provider_ids() {
    std::vector<std::string_view> ids;
    for (const rules::Provider& provider : rules::providers()) ids.push_back(provider.id);
    return ids;
}

inline Settings settings_of(const std::string& config, KeyFiles keys = KeyFiles::Read) {
    return load_settings(config, provider_ids(), keys);
}

// Without the installation's key (KeyFiles::Ignore) the context has a random key, which decrypts
// nothing.
inline service::Context make_context(db::Database& database, const Settings& settings) {
    const Secret& key = settings.security.key;
    KeyRing keys(key.empty() ? create_random_text() : key, settings.security.previous_key);
    return {database, settings, std::move(keys)};
}

inline void set_log_level_from(const Settings& settings) {
    if (settings.log.level == "debug") set_log_level(LogLevel::Debug);
    if (settings.log.level == "info") set_log_level(LogLevel::Info);
    if (settings.log.level == "warning") set_log_level(LogLevel::Warning);
    if (settings.log.level == "error") set_log_level(LogLevel::Error);
}

}  // namespace muster::main_program
