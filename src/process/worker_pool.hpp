// A prefork pool: a parent that keeps its groups of worker processes alive, replaces those that
// end, drains them on SIGTERM and swaps them for new ones on SIGHUP, and tells the service manager
// of it (process/supervisor.hpp). The parent does nothing else, so that nothing can hurt it.
#pragma once

#include <csignal>
#include <functional>
#include <vector>

namespace muster::process {

// True in a worker that was asked to end.
bool stop_requested();
// SIGTERM and SIGINT blocked; the set to wait with comes back.
sigset_t install_worker_signals();
// Called by a worker when it begins to take requests: once each of a plan has, the service manager
// is told that the pool is ready.
void announce_ready();

// Workers that do the same.
struct WorkerGroup {
    int workers = 1;
    // The whole life of a worker; its return value is the process's exit status. Called in the
    // child.
    std::function<int()> work;
};
using PoolConfig = std::vector<WorkerGroup>;

// Runs until SIGTERM or SIGINT, then waits for the workers to finish what they do. `plan` is asked
// at the start and at each SIGHUP; when it throws at a SIGHUP, the running workers stay. Returns
// the exit status for main.
int run_pool(const std::function<PoolConfig()>& plan);

}  // namespace muster::process
