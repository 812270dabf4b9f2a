#include "client/profile.hpp"

#include "base/text.hpp"

#include <fstream>
#include <string_view>

namespace muster::client {
namespace {

constexpr std::size_t kMostProfileLines = 1000;
constexpr std::string_view kMapWord = "map ";

std::string environment_text(const EnvironmentValue& environment, const char* name) {
    const char* value = environment(name);
    return value == nullptr ? "" : value;
}

std::string expanded(std::string_view path, const std::string& home) {
    if (!path.starts_with("~/")) return std::string(path);
    return home + std::string(path.substr(1));
}

// False for a name that a profile does not have.
bool set_default(Defaults& defaults, std::string_view name, std::string_view value,
                 const std::string& home) {
    if (name.starts_with(kMapWord)) {
        defaults.maps.push_back(
            {std::string(trimmed(name.substr(kMapWord.size()))), std::string(value)});
    } else if (name == "url") {
        defaults.url = value;
    } else if (name == "key_file") {
        defaults.key_file = expanded(value, home);
    } else if (name == "ca_file") {
        defaults.ca_file = expanded(value, home);
    } else {
        return false;
    }
    return true;
}

void replace_unless_empty(std::string& text, const std::string& by) {
    if (!by.empty()) text = by;
}

}  // namespace

std::string profile_path(const EnvironmentValue& environment) {
    const std::string config = environment_text(environment, "XDG_CONFIG_HOME");
    if (!config.empty()) return config + "/muster/profile";
    const std::string home = environment_text(environment, "HOME");
    return home.empty() ? "" : home + "/.config/muster/profile";
}

Defaults read_profile(const std::string& path, const std::string& home) {
    Defaults defaults;
    std::ifstream file(path);
    std::string text;
    for (std::size_t number = 1; std::getline(file, text); ++number) {
        const std::string_view line = trimmed(text);
        if (line.empty() || line.starts_with('#')) continue;
        const auto equals = line.rfind('=');
        const std::string_view name = trimmed(line.substr(0, equals));
        const std::string_view value =
            equals == std::string_view::npos ? "" : trimmed(line.substr(equals + 1));
        if (number <= kMostProfileLines && !value.empty() &&
            set_default(defaults, name, value, home))
            continue;
        // The line itself may hold a key.
        throw UsageError(path + ", line " + std::to_string(number) +
                         ": use url = URL, key_file = FILE, ca_file = PEM or map COLUMN = TARGET");
    }
    return defaults;
}

Defaults defaults_of(const EnvironmentValue& environment) {
    Defaults defaults =
        read_profile(profile_path(environment), environment_text(environment, "HOME"));
    replace_unless_empty(defaults.url, environment_text(environment, "MUSTER_URL"));
    replace_unless_empty(defaults.key_file, environment_text(environment, "MUSTER_KEY_FILE"));
    replace_unless_empty(defaults.ca_file, environment_text(environment, "MUSTER_CA_FILE"));
    if (environment("MUSTER_API_KEY") != nullptr && environment("MUSTER_KEY_FILE") == nullptr)
        defaults.key_file.clear();
    return defaults;
}

}  // namespace muster::client
