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

// The process around a run; everything outlives the call.
struct Terminal {
    std::ostream& out;
    std::ostream& err;
    bool err_is_terminal = false;
    // As Console::Settings::ask; empty without a terminal.
    std::function<bool(const std::string& question)> ask;
    // Set by a signal: the run ends after the request in progress.
    const std::atomic<bool>& stop;
    Date today;
    // Between retries and between polls.
    Milliseconds first_pause{500};
    Milliseconds longest_pause{20'000};
};

// Runs to the end and prints everything, errors included. Throws only for bugs.
[[nodiscard]] ExitCode run_import(const Options& options, const Secret& key,
                                  const Terminal& terminal);

}  // namespace muster::client
