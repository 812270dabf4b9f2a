#include "process/concurrency_limit.hpp"

#include "process/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>

// A slot is one word: the tag of the target that its worker waits for, and the time at which the
// slot expires. One compare-exchange changes it. A worker that dies leaves no partial state, and a
// worker that returns after the expiry cannot free a slot that belongs to another worker by then.

namespace muster::process {
namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

// 16 bits of tag above 48 bits of milliseconds: enough for thousands of years of the monotonic
// clock.
constexpr unsigned kTimeBits = 48;
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;

std::uint64_t milliseconds(ConcurrencyLimit::Clock::duration duration) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

bool is_live(std::uint64_t word, std::uint64_t now) {
    return (word & kTimeMask) > now;
}

std::uint64_t tag_of(std::string_view target) {
    return std::uint64_t{std::hash<std::string_view>{}(target)} << kTimeBits;
}

}  // namespace

struct ConcurrencyLimit::Slot {
    Word word{0};
};

ConcurrencyLimit::ConcurrencyLimit() {
    table_ = new (map_shared(kMost * sizeof(Slot))) Slot[kMost]{};
}

ConcurrencyLimit::~ConcurrencyLimit() {
    unmap_shared(table_, kMost * sizeof(Slot));
}

ConcurrencyLimit::Permit::~Permit() {
    if (!slots_) return;
    std::uint64_t expected = until_;
    slots_->table_[place_].word.compare_exchange_strong(expected, 0);
}

std::size_t ConcurrencyLimit::count(std::size_t places, std::uint64_t tag,
                                    std::uint64_t now) const {
    const auto counted = std::count_if(table_, table_ + places, [&](const Slot& slot) {
        const std::uint64_t word = slot.word.load();
        return is_live(word, now) && (word & ~kTimeMask) == tag;
    });
    return static_cast<std::size_t>(counted);
}

std::optional<ConcurrencyLimit::Permit> ConcurrencyLimit::try_acquire(const Bounds& bounds,
                                                                      std::string_view target,
                                                                      Clock::time_point now) {
    const std::uint64_t current = milliseconds(now.time_since_epoch());
    const std::uint64_t tag = tag_of(target);
    const std::uint64_t until = tag | (current + milliseconds(bounds.life));
    const std::size_t places = std::min(bounds.most, kMost);
    if (count(places, tag, current) >= bounds.most_of_target) return std::nullopt;
    for (std::size_t place = 0; place < places; ++place) {
        std::uint64_t found = table_[place].word.load();
        if (is_live(found, current)) continue;
        if (!table_[place].word.compare_exchange_strong(found, until)) continue;
        Permit permit(*this, place, until);
        // If several calls for one target run at once, the calls in the first places succeed.
        if (count(place, tag, current) >= bounds.most_of_target) return std::nullopt;
        return permit;
    }
    return std::nullopt;
}

std::optional<ConcurrencyLimit::Permit> ConcurrencyLimit::try_acquire(std::size_t most,
                                                                      std::string_view target,
                                                                      Clock::time_point now) {
    const std::size_t places = std::min(most, kMost);
    return try_acquire(Bounds{places, places > 1 ? places - 1 : places}, target, now);
}

}  // namespace muster::process
