// The runner of muster-run. It runs the turns of each kind of work until its time is over, and
// pauses when a kind has nothing to do. Each kind has its own thread, so that no kind waits for
// another, such as mail for a long import. To add a kind, add a function to jobs/kinds.hpp that
// creates its Work and a row to main/muster_run.cpp.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

namespace muster::jobs {

// When to stop: after a span of time, or at a signal.
class Deadline {
  public:
    // `span` from now by the steady clock: a run ends in time if the clock is set back.
    explicit Deadline(Milliseconds span);
    bool over() const;
    // Whether a stop signal was received; its sender waits.
    static bool stopped();
    // Sleeps for `span`, or until the deadline. A stop signal interrupts the sleep of one thread;
    // the others finish theirs, so pass a short span.
    void pause(Milliseconds span) const;
    // This deadline, or `span` from now if that is earlier.
    Deadline within(Milliseconds span) const;

  private:
    std::chrono::steady_clock::time_point end_;
};

struct Work {
    std::string_view name;
    // Runs one turn. Returns false if there was nothing to do. The runner logs an exception and
    // retries in a second.
    std::function<bool(const Deadline&)> turn;
    // true: the work ends when there is nothing to do (the purge); false: it continues to look.
    bool ends_when_idle = false;
    // true: more work often comes right after a turn, such as the commit after a dry run.
    bool has_sequels = false;
    // Called once after the last turn, also after a failed one; may be empty. The runner logs an
    // exception.
    std::function<void()> finish{};
    // Called after a failed turn, for work that has to go on while the runner pauses; may be empty.
    // It returns at the deadline. The runner logs an exception.
    std::function<void(const Deadline&)> while_paused{};
};

// Handles SIGTERM and SIGINT: the run ends after the current step.
void install_stop_signals();

// Returns when all kinds have ended; true if no turn and no `finish` failed. Two kinds must not
// share a connection.
bool run(const std::vector<Work>& work, const Deadline& deadline);

}  // namespace muster::jobs
