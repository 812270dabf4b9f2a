#include "http/slots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>

// A slot is one word: the moment when it is free again, whatever becomes of its worker. It changes
// by one compare-exchange, so that a worker that dies anywhere leaves nothing half done, and one
// that comes back after its time cannot free what is another's by then.

namespace muster::http {
namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

std::uint64_t nanoseconds(Slots::Clock::duration duration) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

}  // namespace

struct Slots::Slot {
    Word free_at{0};
};

Slots::Slots() {
    void* memory = mmap(nullptr, kMost * sizeof(Slot), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    table_ = new (memory) Slot[kMost]{};
}

Slots::~Slots() {
    munmap(table_, kMost * sizeof(Slot));
}

Slots::Held::~Held() {
    if (!slots_) return;
    std::uint64_t expected = until_;
    slots_->table_[place_].free_at.compare_exchange_strong(expected, 0);
}

std::optional<Slots::Held> Slots::take(std::size_t most, Clock::time_point now) {
    const std::uint64_t current = nanoseconds(now.time_since_epoch());
    const std::uint64_t until = current + nanoseconds(kLife);
    for (std::size_t place = 0; place < std::min(most, kMost); ++place) {
        std::uint64_t found = table_[place].free_at.load();
        if (found > current) continue;
        if (table_[place].free_at.compare_exchange_strong(found, until)) {
            return Held(*this, place, until);
        }
    }
    return std::nullopt;
}

}  // namespace muster::http
