// The priority of a process for the processor.
#pragma once

namespace muster::process {

// Gives this process a session of its own and a lower priority. Linux shares the processors among
// sessions first (sched(7), "The autogroup feature"), so a niceness alone only orders the processes
// of one session. If the service manager shares the processors among control groups, sessions have
// no effect, and the niceness orders the processes of the service.
class LowPriority {
  public:
    // `niceness`: 1 to 19; 0: the process stays as it is. Construct after the fork.
    explicit LowPriority(int niceness);
    ~LowPriority();
    LowPriority(const LowPriority&) = delete;
    LowPriority& operator=(const LowPriority&) = delete;
    // Gives the session that niceness too. Linux accepts ten such changes a second, of all users
    // together. So call it again and again; it does nothing after a success, or if the kernel has
    // no autogroups.
    void apply();

  private:
    int niceness_;
    int file_ = -1;  // of the session's niceness; -1: nothing to do
};

}  // namespace muster::process
