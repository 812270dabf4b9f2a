// A prefork pool. The parent keeps the groups of worker processes running and replaces workers that
// end. On SIGTERM it drains them; on SIGHUP it replaces them by new ones. It reports its state to
// the service manager (process/supervisor.hpp). The parent has no other work, so few errors can end
// it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <vector>

namespace muster::process {

// True in a worker that received SIGTERM or SIGINT.
bool stop_requested();
// Installs a worker's signal handlers and blocks SIGTERM and SIGINT. Returns the signal mask to use
// while waiting.
sigset_t install_worker_signals();
// A worker calls it when it begins to take requests. After all workers of a configuration have
// called it, the parent reports READY=1.
void announce_ready();

// Workers that run the same function.
struct WorkerGroup {
    int workers = 1;
    // The whole life of a worker, called in the child process. Its result is the process's exit
    // status.
    std::function<int()> work;
};
using PoolConfig = std::vector<WorkerGroup>;

// Runs until SIGTERM or SIGINT, then waits up to 30 seconds for the workers to finish, and kills
// the others. `load_config` is called at the start and at each SIGHUP. If it throws at a SIGHUP,
// the running workers continue. `on_end` is called for each worker that has ended, however it
// ended. Returns 0, the exit status for main.
int run_pool(const std::function<PoolConfig()>& load_config,
             const std::function<void(pid_t worker)>& on_end = {});

}  // namespace muster::process
