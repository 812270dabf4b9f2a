// The command line of muster-import (muster-import(1)): parsing, checking, and the key's sources.
#pragma once

#include "base/secret.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// The command line or a file it names cannot be used; what() is one line for a person.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// --map Column=target; the target is not judged yet (column_guess.hpp).
struct MapOption {
    std::string column;
    std::string target;
    bool operator==(const MapOption&) const = default;
};

struct Options {
    static constexpr std::size_t kMostRowsPerCall = 5000;  // specification, section 8

    std::string file;
    std::string url;  // without a slash at the end
    std::string key_file;
    std::string ca_file;
    std::string errors;  // the error report's path; never empty after parse_options
    std::string resume;  // a job's id, or ""
    std::vector<MapOption> maps;
    std::size_t chunk = kMostRowsPerCall;
    char separator = 0;  // 0 = guess
    bool dry_run = false;
    bool commit = false;
    bool quiet = false;
    bool json = false;
    bool help = false;
    bool version = false;
};

// Arguments without the program's name. Throws UsageError. With --help or --version nothing else is
// required.
[[nodiscard]] Options parse_options(const std::vector<std::string>& arguments);

// The key from --key-file, else from `environment_key` (MUSTER_API_KEY; may be null). Throws
// UsageError for a file that cannot be read, for no key at all, and for one that is mistyped or of
// another kind.
[[nodiscard]] Secret load_key(const Options& options, const char* environment_key);

// The command that goes on with `job`, quoted for a shell; `more` is appended as it is ("
// --commit").
[[nodiscard]] std::string resume_command(const Options& options, std::string_view job,
                                         std::string_view more);

std::string_view usage_text();

}  // namespace muster::client
