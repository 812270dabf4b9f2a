// Ends the reads from a peer when its time is up. libfcgi repeats read() within one call for as
// long as a peer sends a byte now and then, and no option of a socket limits the sum.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

namespace muster::http {

class ReadTimer {
  public:
    ReadTimer();
    ~ReadTimer();
    ReadTimer(const ReadTimer&) = delete;
    ReadTimer& operator=(const ReadTimer&) = delete;

    // While it exists: after `time`, reads from the socket end as if its peer had closed it.
    class Limit {
      public:
        Limit(ReadTimer& timer, int fd, std::chrono::milliseconds time) : timer_(timer) {
            timer_.start(fd, time);
        }
        ~Limit() { timer_.stop(); }
        Limit(const Limit&) = delete;
        Limit& operator=(const Limit&) = delete;

      private:
        ReadTimer& timer_;
    };

  private:
    void start(int fd, std::chrono::milliseconds time);
    void stop();

    timer_t timer_{};
    std::atomic<int> fd_{-1};  // read by the signal handler
};

}  // namespace muster::http
