#include "jobs/runner.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <exception>
#include <future>
#include <string>

namespace muster::jobs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kPoll{200};
// For kSequelTime after a turn of work that has sequels, the runner looks for more work this often.
constexpr Milliseconds kPollForSequel{20};
constexpr Milliseconds kSequelTime{1000};
constexpr Milliseconds kAfterFailure{1000};

std::atomic<bool> g_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it
void on_stop(int) {
    g_stop = true;
}

enum class TurnResult { Worked, Idle, Failed };

void log_failure(const char* event, const Work& work, const std::string& reason) {
    log_event(LogLevel::Error, event, {{"work", work.name}, {"reason", reason}});
}

// The failures of the turns of one kind. An outage fails each of them for the same reason, and cron
// mails each line.
class TurnFailures {
  public:
    explicit TurnFailures(const Work& work) : work_(work) {}

    // Logs a reason when it is new, and every kRepeat.
    void add(const std::exception& error) {
        const std::string reason = error.what();
        const auto now = Clock::now();
        if (reason == logged_ && now - logged_at_ < kRepeat) return;
        log_failure("runner.turn_failed", work_, reason);
        logged_ = reason;
        logged_at_ = now;
    }
    void forget() { logged_.clear(); }

  private:
    static constexpr std::chrono::minutes kRepeat{10};

    const Work& work_;
    std::string logged_;
    Clock::time_point logged_at_;
};

// A turn and the pause after it fail for reasons of their own.
struct Failures {
    explicit Failures(const Work& work) : of_turns(work), of_pauses(work) {}
    void forget() {
        of_turns.forget();
        of_pauses.forget();
    }

    TurnFailures of_turns;
    TurnFailures of_pauses;
};

TurnResult take_turn(const Work& work, const Deadline& deadline, Failures& failures) {
    try {
        const bool has_worked = work.turn(deadline);
        failures.forget();
        return has_worked ? TurnResult::Worked : TurnResult::Idle;
    } catch (const std::exception& error) {
        failures.of_turns.add(error);
        return TurnResult::Failed;
    }
}

void pause_after_failure(const Work& work, const Deadline& deadline, Failures& failures) {
    const Deadline end = deadline.within(kAfterFailure);
    try {
        if (work.while_paused) work.while_paused(end);
    } catch (const std::exception& error) {
        failures.of_pauses.add(error);
    }
    end.pause(kAfterFailure);
}

// Returns true if no turn failed.
bool take_turns(const Work& work, const Deadline& deadline) {
    bool all_well = true;
    Failures failures(work);
    Clock::time_point sequel_until;
    while (!deadline.over()) {
        switch (take_turn(work, deadline, failures)) {
            case TurnResult::Worked:
                if (work.has_sequels) sequel_until = Clock::now() + kSequelTime;
                break;
            case TurnResult::Idle:
                if (work.ends_when_idle) return all_well;
                deadline.pause(Clock::now() < sequel_until ? kPollForSequel : kPoll);
                break;
            case TurnResult::Failed:
                all_well = false;
                pause_after_failure(work, deadline, failures);
                break;
        }
    }
    return all_well;
}

// Returns true if it did not fail.
bool finish_kind(const Work& work) {
    if (!work.finish) return true;
    try {
        work.finish();
        return true;
    } catch (const std::exception& error) {
        log_failure("runner.finish_failed", work, error.what());
        return false;
    }
}

bool run_kind(const Work& work, const Deadline& deadline) {
    const bool all_well = take_turns(work, deadline);
    return finish_kind(work) && all_well;
}

}  // namespace

Deadline::Deadline(Milliseconds span) : end_(Clock::now() + span) {}

bool Deadline::over() const {
    return g_stop || Clock::now() >= end_;
}

bool Deadline::stopped() {
    return g_stop;
}

void Deadline::pause(Milliseconds span) const {
    const auto left = std::chrono::ceil<Milliseconds>(end_ - Clock::now());
    const auto wait = std::clamp(span, Milliseconds(0), std::max(left, Milliseconds(0)));
    const timespec time{wait.count() / 1000, wait.count() % 1000 * 1'000'000};
    if (!g_stop) nanosleep(&time, nullptr);
}

Deadline Deadline::within(Milliseconds span) const {
    Deadline nearer(span);
    nearer.end_ = std::min(nearer.end_, end_);
    return nearer;
}

void install_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_stop;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
}

bool run(const std::vector<Work>& work, const Deadline& deadline) {
    std::vector<std::future<bool>> kinds;
    kinds.reserve(work.size());
    for (const Work& kind : work) {
        kinds.push_back(std::async(std::launch::async,
                                   [&kind, &deadline] { return run_kind(kind, deadline); }));
    }
    bool all_well = true;
    for (auto& kind : kinds) all_well &= kind.get();
    return all_well;
}

}  // namespace muster::jobs
