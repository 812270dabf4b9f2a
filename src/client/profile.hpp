// The defaults of muster-import: ~/.config/muster/profile and the environment.
#pragma once

#include "client/options.hpp"

#include <functional>
#include <string>

namespace muster::client {

// As std::getenv; may return null.
using EnvironmentValue = std::function<const char*(const char*)>;

// $XDG_CONFIG_HOME/muster/profile, or $HOME/.config/muster/profile; "" without both.
[[nodiscard]] std::string profile_path(const EnvironmentValue& environment);

// Lines `url = …`, `key_file = …`, `ca_file = …` and `map COLUMN = TARGET`; # begins a comment. ~/
// at the start of a path is $HOME. Without the file: no defaults. Throws UsageError with the line
// for any other line, and with the reason if the file cannot be read or is a folder.
[[nodiscard]] Defaults read_profile(const std::string& path, const std::string& home);

// The profile, overridden by MUSTER_URL, MUSTER_KEY_FILE and MUSTER_CA_FILE. Without key_file if
// MUSTER_API_KEY holds the key itself. Throws UsageError as read_profile(), and for a variable that
// holds a key in the place of a name.
[[nodiscard]] Defaults defaults_of(const EnvironmentValue& environment);

}  // namespace muster::client
