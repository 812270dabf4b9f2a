#include "process/worker_pool.hpp"

#include "base/log.hpp"
#include "process/supervisor.hpp"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace muster::process {
namespace {

// A worker that fails earlier than this is replaced after this time. Prevents a fork storm.
constexpr std::chrono::milliseconds kMinimumLife{500};
constexpr std::chrono::seconds kDrainTime{30};

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
    action.sa_handler = handler;  // without SA_RESTART: blocking calls must return
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

sigset_t set_of(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    return set;
}

// Not the wall clock: a clock that is set back must not delay the next worker.
using PoolClock = std::chrono::steady_clock;

struct Worker {
    PoolClock::time_point since;
    std::size_t group = 0;  // index in the pool's configuration
};

// Counts, across processes, the workers of a configuration that have begun to take requests.
class ReadyCounter {
  public:
    ReadyCounter() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ~ReadyCounter() { close(fd_); }
    ReadyCounter(const ReadyCounter&) = delete;
    ReadyCounter& operator=(const ReadyCounter&) = delete;
    int fd() const { return fd_; }
    int count() {
        eventfd_t more = 0;
        if (eventfd_read(fd_, &more) == 0) count_ += static_cast<int>(more);
        return count_;
    }

  private:
    int fd_;
    int count_ = 0;
};

int g_ready_counter = -1;  // in a worker

class Pool {
  public:
    // Calls its own copy of `load_config`, which may keep state between calls.
    Pool(std::function<PoolConfig()> load_config, std::function<void(pid_t)> on_end)
        : load_config_(std::move(load_config)),
          on_end_(std::move(on_end)),
          config_(load_config_()) {}

    int run() {
        fill();
        while (!g_stop) {
            if (g_reload.exchange(false)) reload();
            reap();
            fill();
            retire_replaced();
            notify_when_ready();
            wait_for_signal();
        }
        notify_supervisor("STOPPING=1");
        drain();
        return 0;
    }

  private:
    void wait_for_signal() {
        const sigset_t watched = set_of({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
        // Workers send no signal when they become ready.
        const timespec pause = is_ready_ ? timespec{1, 0} : timespec{0, 20'000'000};
        const int signal = sigtimedwait(&watched, nullptr, &pause);
        if (signal == SIGTERM || signal == SIGINT) g_stop = true;
        if (signal == SIGHUP) g_reload = true;
    }

    void notify_when_ready() {
        if (is_ready_) return;
        int expected = 0;
        for (const WorkerGroup& group : config_) expected += group.workers;
        if (ready_counter_->count() < expected) return;
        is_ready_ = true;
        notify_supervisor("READY=1");
    }

    int workers_of(std::size_t group) const {
        return static_cast<int>(
            std::count_if(current_.begin(), current_.end(),
                          [&](const auto& worker) { return worker.second.group == group; }));
    }

    void fill() {
        for (std::size_t group = 0; group < config_.size(); ++group) {
            for (int missing = config_[group].workers - workers_of(group); missing > 0; --missing) {
                if (PoolClock::now() < not_before_) return;
                spawn(group);
            }
        }
    }

    void spawn(std::size_t group) {
        const pid_t parent = getpid();
        const pid_t pid = fork();
        if (pid < 0) {
            log_event(LogLevel::Error, "pool.fork_failed", {{"errno", errno}});
            not_before_ = PoolClock::now() + kMinimumLife;
            return;
        }
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);  // workers end if the parent is killed
            if (getppid() != parent) _exit(1);
            g_ready_counter = ready_counter_->fd();
            _exit(config_[group].work());
        }
        current_[pid] = {PoolClock::now(), group};
    }

    void reap() {
        int status = 0;
        for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0;
             pid = waitpid(-1, &status, WNOHANG)) {
            if (on_end_) on_end_(pid);
            const bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (!clean) log_event(LogLevel::Warning, "pool.worker_died", {{"status", status}});
            if (retired_.erase(pid) > 0) continue;
            const auto worker = current_.find(pid);
            if (worker == current_.end()) {
                replaced_.erase(pid);
                continue;
            }
            const auto now = PoolClock::now();
            if (!clean && now - worker->second.since < kMinimumLife)
                not_before_ = now + kMinimumLife;
            current_.erase(worker);
        }
    }

    void reload() {
        notify_supervisor("RELOADING=1");
        is_ready_ = false;  // otherwise the service manager would wait for READY=1
        try {
            config_ = load_config_();
        } catch (const std::exception& error) {
            log_event(LogLevel::Error, "pool.reload_refused", {{"reason", error.what()}});
            return;
        }
        replaced_.merge(std::exchange(current_, {}));
        ready_counter_ = std::make_unique<ReadyCounter>();
        is_reloading_ = true;
    }

    // The old workers finish their requests and end. Those of a group continue while it has no new
    // worker: a fork may fail, or wait for kMinimumLife.
    void retire_replaced() {
        if (!is_reloading_) return;
        std::erase_if(replaced_, [&](const auto& entry) {
            if (workers_of(entry.second.group) == 0) return false;
            kill(entry.first, SIGTERM);
            retired_.insert(entry);
            return true;
        });
        if (!replaced_.empty() || current_.empty()) return;
        is_reloading_ = false;
        log_event(LogLevel::Info, "pool.reloaded", {{"workers", current_.size()}});
    }

    void drain() {
        retired_.merge(std::exchange(replaced_, {}));
        retired_.merge(std::exchange(current_, {}));
        for (const auto& [pid, worker] : retired_) kill(pid, SIGTERM);
        const auto deadline = PoolClock::now() + kDrainTime;
        while (!retired_.empty() && PoolClock::now() < deadline) {
            reap();
            if (!retired_.empty()) wait_for_signal();
        }
        if (retired_.empty()) return;
        log_event(LogLevel::Warning, "pool.workers_killed", {{"workers", retired_.size()}});
        for (const auto& [pid, worker] : retired_) kill(pid, SIGKILL);
    }

    std::function<PoolConfig()> load_config_;
    std::function<void(pid_t)> on_end_;
    PoolConfig config_;
    std::map<pid_t, Worker> current_;
    std::map<pid_t, Worker> replaced_;  // of the old configuration
    std::map<pid_t, Worker> retired_;   // asked to end
    PoolClock::time_point not_before_;
    std::unique_ptr<ReadyCounter> ready_counter_ = std::make_unique<ReadyCounter>();
    bool is_ready_ = false;      // READY=1 was sent
    bool is_reloading_ = false;  // until the old workers are asked to end
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

void announce_ready() {
    if (g_ready_counter >= 0) eventfd_write(g_ready_counter, 1);
}

int run_pool(const std::function<PoolConfig()>& load_config,
             const std::function<void(pid_t worker)>& on_end) {
    handle(SIGHUP, on_reload);
    handle(SIGPIPE, SIG_IGN);
    const sigset_t watched = set_of({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    return Pool(load_config, on_end).run();
}

}  // namespace muster::process
