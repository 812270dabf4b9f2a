// The command line of muster-import (muster-import(1)): parsing, checking, and the key's sources.
#pragma once

#include "base/command_line.hpp"
#include "base/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// --map Column=target; column_guess.hpp checks the target.
struct MapOption {
    std::string column;
    std::string target;
    bool operator==(const MapOption&) const = default;
};

// --format Column=text; format_guess.hpp checks the text.
struct FormatOption {
    std::string column;
    std::string format;
    bool operator==(const FormatOption&) const = default;
};

struct FormatOptions {
    std::string date_format;  // "" = guess
    std::vector<FormatOption> columns;
    bool strict = false;
};

struct Options {
    static constexpr std::size_t kMostRowsPerCall = 5000;  // docs/api/limits.md "Limits"

    std::string file;  // "-" = standard input
    std::string url;   // without a slash at the end
    std::string url_source = "--url";
    std::string key_file;
    std::string ca_file;
    std::string errors;  // the error report's path; "" without a FILE, unless --errors is given
    std::string resume;  // a job's id, or ""
    std::string cancel;  // a job's id, or ""; then there is no file
    std::string undo;    // the same
    std::vector<MapOption> maps;
    std::vector<MapOption> profile_maps;  // for columns that a file may have
    std::string encoding;                 // "" = detect
    FormatOptions formats;
    std::size_t chunk = kMostRowsPerCall;
    char separator = 0;  // 0 = guess
    bool no_header = false;
    bool reject_bad_values = false;
    bool list = false;  // of jobs; then there is no file
    bool dry_run = false;
    bool commit = false;
    bool yes = false;  // undo without asking
    bool quiet = false;
    bool json = false;
};

[[nodiscard]] const Program& program();

// For options that are not given: from the environment and the profile (profile.hpp).
struct Defaults {
    std::string url;
    std::string key_file;
    std::string ca_file;
    std::vector<MapOption> maps;
    std::string url_source = "--url";  // for errors about the URL: "MUSTER_URL"
};

// Throws UsageError. It never quotes a key that is in the place of another value.
[[nodiscard]] Options options_of(const CommandLine& line, const Defaults& defaults = {});

// The key from --key-file, else from `environment_key` (MUSTER_API_KEY; may be null). Throws
// UsageError for a file that cannot be read or is empty, and for a key that is missing, mistyped or
// of another kind.
[[nodiscard]] Secret load_key(const Options& options, const char* environment_key);

// The command that continues `job`, quoted for a shell; `more` is appended as it is (" --commit").
[[nodiscard]] std::string resume_command(const Options& options, std::string_view job,
                                         std::string_view more);

// The command that cancels `job`, quoted for a shell.
[[nodiscard]] std::string cancel_command(const Options& options, std::string_view job);

// The command that undoes `job`, or waits for the end of its undo, quoted for a shell.
[[nodiscard]] std::string undo_command(const Options& options, std::string_view job);

}  // namespace muster::client
