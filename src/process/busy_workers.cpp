#include "process/busy_workers.hpp"

#include "process/shared_memory.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

// A slot is one word: the time at which the batch began, in microseconds of the monotonic clock, or
// 0. One compare-exchange changes it, so a worker that dies leaves no partial state.

namespace muster::process {
namespace {

std::uint64_t microseconds_of(BusyWorkers::Clock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

constexpr std::uint64_t kLong = std::chrono::microseconds(BusyWorkers::kLongBatch).count();

}  // namespace

struct BusyWorkers::Slot {
    std::atomic<std::uint64_t> begin{0};
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

BusyWorkers::BusyWorkers(std::size_t most)
    : most_(most), rested_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (rested_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    table_ = new (map_shared(kMost * sizeof(Slot))) Slot[kMost]{};
}

BusyWorkers::~BusyWorkers() {
    unmap_shared(table_, kMost * sizeof(Slot));
    close(rested_);
}

BusyWorkers::Batch::~Batch() {
    if (table_) release();
}

void BusyWorkers::Batch::release() {
    std::uint64_t expected = begin_;
    table_->table_[place_].begin.compare_exchange_strong(expected, 0);
}

void BusyWorkers::Batch::rest() {
    if (!table_) return;
    release();
    eventfd_write(std::exchange(table_, nullptr)->rested_, 1);
}

BusyWorkers::Batch BusyWorkers::begin(Clock::time_point now) {
    const std::uint64_t current = microseconds_of(now);
    for (std::size_t place = 0; place < kMost; ++place) {
        std::uint64_t found = table_[place].begin.load();
        if (found + kLong > current) continue;
        if (table_[place].begin.compare_exchange_strong(found, current)) {
            return {this, place, current};
        }
    }
    return {nullptr, 0, current};
}

std::chrono::microseconds BusyWorkers::wait_time(Clock::time_point now) const {
    const std::uint64_t current = microseconds_of(now);
    std::size_t busy = 0;
    std::uint64_t longest = current;
    for (std::size_t place = 0; place < kMost; ++place) {
        const std::uint64_t begin = table_[place].begin.load();
        if (begin + kLong <= current) continue;
        ++busy;
        longest = std::min(longest, begin);
    }
    if (busy < most_) return std::chrono::microseconds(0);
    return std::chrono::microseconds(longest + kLong - current);
}

// If a worker rested before the call, the call returns at once. So a worker that has just found
// others busy does not miss a rest.
bool BusyWorkers::wait(std::chrono::microseconds at_most, const sigset_t& unblocked) const {
    pollfd rested{rested_, POLLIN, 0};
    const auto whole = std::chrono::floor<std::chrono::seconds>(at_most);
    const timespec pause{whole.count(), std::chrono::nanoseconds(at_most - whole).count()};
    if (ppoll(&rested, 1, &pause, &unblocked) < 0) return false;
    eventfd_t count = 0;
    if (rested.revents) eventfd_read(rested_, &count);
    return true;
}

std::size_t half_of_processors() {
    return std::max<std::size_t>(1, std::thread::hardware_concurrency() / 2);
}

}  // namespace muster::process
