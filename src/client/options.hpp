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

struct Options {
    static constexpr std::size_t kMostRowsPerCall = 5000;  // docs/api/limits.md "Limits"

    std::string file;
    std::string url;  // without a slash at the end
    std::string key_file;
    std::string ca_file;
    std::string errors;  // the error report's path; never empty
    std::string resume;  // a job's id, or ""
    std::string cancel;  // a job's id, or ""; then there is no file
    std::vector<MapOption> maps;
    std::size_t chunk = kMostRowsPerCall;
    char separator = 0;  // 0 = guess
    bool dry_run = false;
    bool commit = false;
    bool quiet = false;
    bool json = false;
};

[[nodiscard]] const Program& program();

// `environment_url`: MUSTER_URL, for a line without --url; may be null. Throws UsageError.
[[nodiscard]] Options options_of(const CommandLine& line, const char* environment_url = nullptr);

// The key from --key-file, else from `environment_key` (MUSTER_API_KEY; may be null). Throws
// UsageError for a file that cannot be read, and for a key that is missing, mistyped or of another
// kind.
[[nodiscard]] Secret load_key(const Options& options, const char* environment_key);

// The command that continues `job`, quoted for a shell; `more` is appended as it is (" --commit").
[[nodiscard]] std::string resume_command(const Options& options, std::string_view job,
                                         std::string_view more);

// The command that cancels `job`, quoted for a shell.
[[nodiscard]] std::string cancel_command(const Options& options, std::string_view job);

}  // namespace muster::client
