// The priority of a process for the processor.
#pragma once

namespace muster::process {

// Gives this process a session of its own and a lower priority. Linux shares the processors among
// sessions first (sched(7), "The autogroup feature"), so a niceness alone only orders the processes
// of one session. A service manager may give the service a share of its own (CPUWeight); then the
// niceness orders the processes of the service.
class LowPriority {
  public:
    // `niceness`: 1 to 19; 0: the process stays as it is. Construct after the fork.
    explicit LowPriority(int niceness);
    // Gives the session that niceness too. Linux accepts this from all users together ten times a
    // second, so call it again and again; it does nothing after a success.
    void apply();

  private:
    int missing_;  // the niceness that the session does not have yet; 0: nothing to do
};

}  // namespace muster::process
