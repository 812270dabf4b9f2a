#include "http/worker_pool.hpp"

#include "base/log.hpp"
#include "base/time.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <map>
#include <stdexcept>
#include <utility>

namespace muster::http {
namespace {

// A worker that dies younger than this is replaced only after the rest of it: no fork storm.
constexpr Milliseconds kMinimumLife{500};
constexpr Milliseconds kDrainTime{30'000};

std::atomic<bool> g_stop{false};
std::atomic<bool> g_reload{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) {
    g_stop = true;
}
void on_reload(int) {
    g_reload = true;
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;  // without SA_RESTART: waiting calls must return
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

sigset_t set_of(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    return set;
}

struct Worker {
    Timestamp since;
    std::size_t crew = 0;  // its place in the plan
};

class Pool {
  public:
    // Asked through the copy that is kept: what it asks may remember that it was asked.
    explicit Pool(std::function<PoolPlan()> plan) : ask_(std::move(plan)), plan_(ask_()) {}

    int run() {
        fill();
        while (!g_stop) {
            if (g_reload.exchange(false)) reload();
            reap();
            fill();
            wait_for_signal();
        }
        drain();
        return 0;
    }

  private:
    void wait_for_signal() {
        const sigset_t watched = set_of({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
        const timespec second{1, 0};
        const int signal = sigtimedwait(&watched, nullptr, &second);
        if (signal == SIGTERM || signal == SIGINT) g_stop = true;
        if (signal == SIGHUP) g_reload = true;
    }

    int workers_of(std::size_t crew) const {
        return static_cast<int>(
            std::count_if(current_.begin(), current_.end(),
                          [&](const auto& worker) { return worker.second.crew == crew; }));
    }

    void fill() {
        for (std::size_t crew = 0; crew < plan_.size(); ++crew) {
            for (int missing = plan_[crew].workers - workers_of(crew); missing > 0; --missing) {
                if (Timestamp::now() < not_before_) return;
                spawn(crew);
            }
        }
    }

    void spawn(std::size_t crew) {
        const pid_t parent = getpid();
        const pid_t pid = fork();
        if (pid < 0) {
            log_event(LogLevel::Error, "pool.fork_failed", {{"errno", errno}});
            not_before_ = Timestamp::now() + kMinimumLife;
            return;
        }
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);  // no orphans when the parent is killed
            if (getppid() != parent) _exit(1);
            _exit(plan_[crew].work());
        }
        current_[pid] = {Timestamp::now(), crew};
    }

    void reap() {
        int status = 0;
        for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0;
             pid = waitpid(-1, &status, WNOHANG)) {
            const auto worker = current_.find(pid);
            if (worker == current_.end()) {
                retired_.erase(pid);
                continue;
            }
            const bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (!clean) log_event(LogLevel::Warning, "pool.worker_died", {{"status", status}});
            const Timestamp now = Timestamp::now();
            if (!clean && now - worker->second.since < kMinimumLife)
                not_before_ = now + kMinimumLife;
            current_.erase(worker);
        }
    }

    void reload() {
        try {
            plan_ = ask_();
        } catch (const std::exception& error) {
            log_event(LogLevel::Error, "pool.reload_refused", {{"reason", error.what()}});
            return;
        }
        // New workers take over the socket first; the old ones finish what they have.
        auto old = std::exchange(current_, {});
        fill();
        for (const auto& [pid, worker] : old) {
            kill(pid, SIGTERM);
            retired_[pid] = worker;
        }
        log_event(LogLevel::Info, "pool.reloaded", {{"workers", current_.size()}});
    }

    void drain() {
        retired_.merge(current_);
        current_.clear();
        for (const auto& [pid, worker] : retired_) kill(pid, SIGTERM);
        const Timestamp deadline = Timestamp::now() + kDrainTime;
        while (!retired_.empty() && Timestamp::now() < deadline) {
            reap();
            if (!retired_.empty()) wait_for_signal();
        }
        for (const auto& [pid, worker] : retired_) kill(pid, SIGKILL);
    }

    std::function<PoolPlan()> ask_;
    PoolPlan plan_;
    std::map<pid_t, Worker> current_;
    std::map<pid_t, Worker> retired_;
    Timestamp not_before_;
};

}  // namespace

bool stop_requested() {
    return g_stop;
}

sigset_t install_worker_signals() {
    g_stop = false;
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    handle(SIGHUP, SIG_IGN);
    handle(SIGPIPE, SIG_IGN);
    const sigset_t blocked = set_of({SIGTERM, SIGINT});
    sigset_t waiting;
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    sigprocmask(SIG_SETMASK, nullptr, &waiting);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigdelset(&waiting, signal);
    return waiting;
}

int run_pool(const std::function<PoolPlan()>& plan) {
    handle(SIGHUP, on_reload);
    handle(SIGPIPE, SIG_IGN);
    const sigset_t watched = set_of({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    return Pool(plan).run();
}

}  // namespace muster::http
