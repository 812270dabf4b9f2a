// The rows of muster.conf, one for each key. To add a setting: a member of its section's struct, a
// row in table.cpp, and its lines in muster.conf(5) (`musterd --print-manual`).
#pragma once

#include "base/settings.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace muster {

// Where a key's value is stored.
using SettingValue = std::variant<std::string*, int*, bool*, Secret*>;

struct Setting {
    enum class Source : std::uint8_t {
        Value,  // a secret may be file:/path; the text of that file is trimmed
        File,   // a path, with or without file:; the value is all bytes of that file
    };
    struct Range {
        int least = 0;
        int most = 0;
    };

    std::string_view section;
    std::string_view key;
    // `provider`: the <id> of [providers.<id>], "" for other sections.
    SettingValue (*value)(Settings& settings, std::string_view provider);
    // An empty value is valid where the default is empty. It is not checked.
    std::string_view fallback = "";
    Source source = Source::Value;
    Range range = {};               // of a number
    std::string_view choices = "";  // "no yes": the only valid values; "" allows all
    bool (*check)(std::string_view) = nullptr;
    std::string_view expects = "";  // what `check` accepts, for the error message
    std::string_view meaning;
};

// The section of the rows that each [providers.<id>] has.
inline constexpr std::string_view kProviderSection = "providers.<id>";

// Rows of one section are adjacent.
std::span<const Setting> settings_table();

}  // namespace muster
