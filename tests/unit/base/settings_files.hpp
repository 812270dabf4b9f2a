// A configuration file for the tests of settings.
#pragma once

#include "base/settings.hpp"
#include "unit/client/scratch.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace muster::test {

// Sets an environment variable during its lifetime.
class Variable {
  public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Variable() { unsetenv(name_.c_str()); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    std::string name_;
};

// A configuration file with a valid key in the same folder.
struct SettingsFiles {
    static constexpr std::array<std::string_view, 2> kProviders = {"slack", "google_docs"};
    static inline const std::string kKeyBytes = std::string(32, '\x01');

    Settings load(const std::string& text) {
        const std::string key = text.find("key_file") == std::string::npos
                                    ? "\n[security]\nkey_file = " + key_file + "\n"
                                    : "";
        return load_settings(scratch.write("muster.conf", text + key), kProviders);
    }
    // The reason without the folder, or "" if the file is valid.
    std::string refusal(const std::string& text) {
        try {
            load(text);
            return "";
        } catch (const SettingsError& error) {
            std::string reason = error.what();
            const std::string folder = scratch.file("");
            for (std::size_t at; (at = reason.find(folder)) != std::string::npos;) {
                reason.erase(at, folder.size());
            }
            return reason;
        }
    }

    Scratch scratch;
    std::string key_file = scratch.write("muster.key", kKeyBytes);
};

}  // namespace muster::test
