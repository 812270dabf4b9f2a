// Keeps few workers of a group busy at the same time. Workers that take all waiting requests cost
// the least processor time in large batches: two busy workers would halve the batches of each
// other. All workers of the group share the table in memory mapped before the fork.
#pragma once

#include <csignal>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace muster::process {

class BusyWorkers {
  public:
    using Clock = std::chrono::steady_clock;  // the same for all processes of the machine

    // A worker whose batch lasts longer no longer counts as busy. It may wait for a disk or for a
    // lock, or it may have died.
    static constexpr std::chrono::milliseconds kLongBatch{5};
    static constexpr std::size_t kMost = 64;

    // Construct before the fork. `most`: how many workers should be busy at the same time.
    explicit BusyWorkers(std::size_t most);
    ~BusyWorkers();
    BusyWorkers(const BusyWorkers&) = delete;
    BusyWorkers& operator=(const BusyWorkers&) = delete;

    // Counts the worker as busy until its destruction.
    class Batch {
      public:
        Batch(Batch&& other) noexcept
            : table_(std::exchange(other.table_, nullptr)),
              place_(other.place_),
              begin_(other.begin_) {}
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;
        Batch& operator=(Batch&&) = delete;
        ~Batch();

        // No longer counts the worker, and lets one that waits take requests at once. For a batch
        // that will be long.
        void rest();

      private:
        friend class BusyWorkers;
        Batch(BusyWorkers* table, std::size_t place, std::uint64_t begin)
            : table_(table), place_(place), begin_(begin) {}
        void release();

        BusyWorkers* table_;  // nullptr: the table was full, so the batch is not counted
        std::size_t place_;
        std::uint64_t begin_;
    };
    // Never waits.
    Batch begin(Clock::time_point now = Clock::now());

    // How long a worker should leave requests to the busy ones: zero if fewer than `most` are busy,
    // otherwise the time until the longest of their batches counts as long.
    std::chrono::microseconds wait_time(Clock::time_point now = Clock::now()) const;
    // Waits until a worker rests, at most for this time. Returns false after a signal.
    bool wait(std::chrono::microseconds at_most, const sigset_t& unblocked) const;

  private:
    struct Slot;
    Slot* table_;
    std::size_t most_;
    int rested_;  // an eventfd, the same for all workers
};

// Half of the processors, at least one. nginx and the database need the others.
std::size_t half_of_processors();

}  // namespace muster::process
