// The whole run of muster-import: read the file, show the mapping, stage, dry run, ask, commit,
// report (muster-import(1), docs/api/imports.md "Imports").
#pragma once

#include "base/time.hpp"
#include "client/api_client.hpp"
#include "client/options.hpp"
#include "client/summary.hpp"

#include <atomic>
#include <functional>
#include <ostream>
#include <string>

namespace muster::client {

// What the run needs of its process; everything outlives the call.
struct Terminal {
    std::ostream& out;
    std::ostream& err;
    bool err_is_terminal = false;
    // As Console::Settings::ask; empty = there is nobody to ask.
    std::function<bool(const std::string& question)> ask;
    // Set by a signal: the run ends after the request under way.
    const std::atomic<bool>& stop;
    Date today;
    // Of the retries and of the polling.
    Milliseconds first_pause{500};
    Milliseconds longest_pause{20'000};
};

// Runs to the end and prints everything, errors too. Throws nothing that a caller has to tell
// apart.
[[nodiscard]] ExitCode run_import(const Options& options, const Secret& key,
                                  const Terminal& terminal);

}  // namespace muster::client
