// muster-import --undo: shows what the undo of a job would do, asks, and follows it to its end.
#pragma once

#include "client/api_client.hpp"
#include "client/console.hpp"
#include "client/options.hpp"
#include "client/summary.hpp"

#include <cstdint>
#include <functional>

namespace muster::client {

// Polls a job until it leaves its state, with progress up to `total`.
using FollowJob = std::function<ImportJob(ImportJob job, std::uint64_t total)>;

// AllIn if everything was taken back, SomeNotIn if rows were kept, Stopped if the person does not
// confirm, Failed if the service did not complete the undo. `summary.job` is the job as last seen.
// Throws as ApiClient does.
[[nodiscard]] ExitCode undo_job(const Options& options, ApiClient& api, Console& console,
                                const FollowJob& follow, Summary& summary);

}  // namespace muster::client
