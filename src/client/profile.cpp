#include "client/profile.hpp"

#include "base/text.hpp"
#include "client/named_files.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace muster::client {
namespace {

constexpr std::size_t kMostProfileLines = 1000;
constexpr std::string_view kMapWord = "map ";

std::string environment_text(const EnvironmentValue& environment, const char* name) {
    const char* value = environment(name);
    return value == nullptr ? "" : value;
}

// A default from the environment. Errors quote it, so it must not be the key.
std::string environment_default(const EnvironmentValue& environment, const char* name,
                                std::string_view purpose) {
    std::string value = environment_text(environment, name);
    if (!exposes_key(value)) return value;
    throw UsageError(std::string(name) + " names " + std::string(purpose) +
                     ", and it was given a key; put the key into a file, or set MUSTER_API_KEY");
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
            {std::string(trimmed_ascii(name.substr(kMapWord.size()))), std::string(value)});
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

}  // namespace

std::string profile_path(const EnvironmentValue& environment) {
    const std::string config = environment_text(environment, "XDG_CONFIG_HOME");
    if (!config.empty()) return config + "/muster/profile";
    const std::string home = environment_text(environment, "HOME");
    return home.empty() ? "" : home + "/.config/muster/profile";
}

Defaults read_profile(const std::string& path, const std::string& home) {
    Defaults defaults;
    std::error_code unknown;
    if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found)
        return defaults;
    std::ifstream file = open_file("the profile " + path, path);
    std::string text;
    for (std::size_t number = 1; std::getline(file, text); ++number) {
        const std::string_view line = trimmed_ascii(text);
        if (line.empty() || line.starts_with('#')) continue;
        const auto equals = line.rfind('=');
        const std::string_view name = trimmed_ascii(line.substr(0, equals));
        const std::string_view value =
            equals == std::string_view::npos ? "" : trimmed_ascii(line.substr(equals + 1));
        if (number <= kMostProfileLines && !value.empty() && !exposes_key(text) &&
            set_default(defaults, name, value, home))
            continue;
        // The line itself may hold a key.
        throw UsageError(path + ", line " + std::to_string(number) +
                         ": use url = URL, key_file = FILE, ca_file = PEM or map COLUMN = TARGET");
    }
    require_whole(file, "the profile " + path);
    return defaults;
}

Defaults defaults_of(const EnvironmentValue& environment) {
    const std::string path = profile_path(environment);
    Defaults defaults = read_profile(path, environment_text(environment, "HOME"));
    if (!defaults.url.empty()) defaults.url_source = "the url of " + path;
    const auto replace = [&](std::string& text, const char* name, std::string_view purpose) {
        const std::string value = environment_default(environment, name, purpose);
        if (!value.empty()) text = value;
        return !value.empty();
    };
    if (replace(defaults.url, "MUSTER_URL", "the service")) defaults.url_source = "MUSTER_URL";
    replace(defaults.key_file, "MUSTER_KEY_FILE", "a file");
    replace(defaults.ca_file, "MUSTER_CA_FILE", "a file");
    if (environment("MUSTER_API_KEY") != nullptr && environment("MUSTER_KEY_FILE") == nullptr)
        defaults.key_file.clear();
    return defaults;
}

}  // namespace muster::client
