#include "process/organization_shares.hpp"

#include "process/shared_memory.hpp"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>

// A place has one word that decides: the tag of the organization above the id of the process that
// holds the permit, or 0. One compare-exchange changes it, so a worker that dies leaves no partial
// state. The time is written after it: for a moment, a new permit may count as an old one.

namespace muster::process {
namespace {

constexpr unsigned kProcessBits = 32;
constexpr std::uint64_t kProcessMask = (std::uint64_t{1} << kProcessBits) - 1;

std::uint64_t tag_of_organization(std::string_view organization) {
    return std::uint64_t{std::hash<std::string_view>{}(organization)} & ~kProcessMask;
}

std::uint64_t word_of_process(pid_t process) {
    return static_cast<std::uint64_t>(process) & kProcessMask;
}

std::int64_t share_milliseconds(OrganizationShares::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

struct OrganizationShares::Place {
    std::atomic<std::uint64_t> word{0};
    std::atomic<std::int64_t> since{0};
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

OrganizationShares::OrganizationShares() {
    table_ = new (map_shared(kPlaces * sizeof(Place))) Place[kPlaces]{};
}

OrganizationShares::~OrganizationShares() {
    unmap_shared(table_, kPlaces * sizeof(Place));
}

OrganizationShares::Permit::~Permit() {
    if (!shares_) return;
    std::uint64_t expected = word_;
    shares_->table_[place_].word.compare_exchange_strong(expected, 0);
}

OrganizationShares::Held OrganizationShares::held_by(std::uint64_t tag,
                                                     Clock::time_point now) const {
    const std::int64_t old = share_milliseconds(now - kYoung);
    Held held;
    for (std::size_t place = 0; place < kPlaces; ++place) {
        const std::uint64_t word = table_[place].word.load(std::memory_order_relaxed);
        if (word == 0 || (word & ~kProcessMask) != tag) continue;
        ++held.all;
        if (table_[place].since.load(std::memory_order_relaxed) > old) ++held.young;
    }
    return held;
}

bool OrganizationShares::has_room(std::string_view organization, const ShareLimit& limit,
                                  Clock::time_point now) const {
    const Held held = held_by(tag_of_organization(organization), now);
    return held.all < limit.most && held.young < limit.most_young;
}

std::optional<OrganizationShares::Permit> OrganizationShares::try_acquire(
    std::string_view organization, const ShareLimit& limit, Clock::time_point now) {
    if (!has_room(organization, limit, now)) return std::nullopt;
    const std::uint64_t tag = tag_of_organization(organization);
    const std::uint64_t word = tag | word_of_process(getpid());
    for (std::size_t place = 0; place < kPlaces; ++place) {
        std::uint64_t expected = 0;
        if (table_[place].word.load(std::memory_order_relaxed) != 0 ||
            !table_[place].word.compare_exchange_strong(expected, word)) {
            continue;
        }
        Permit permit(this, place, word);
        table_[place].since.store(share_milliseconds(now), std::memory_order_relaxed);
        // Another worker may have taken the last permit since the count.
        const Held held = held_by(tag, now);
        if (held.all > limit.most || held.young > limit.most_young) return std::nullopt;
        return permit;
    }
    return Permit(nullptr, 0, 0);
}

void OrganizationShares::release_all_of(pid_t process) {
    for (std::size_t place = 0; place < kPlaces; ++place) {
        std::uint64_t word = table_[place].word.load();
        if (word != 0 && (word & kProcessMask) == word_of_process(process)) {
            table_[place].word.compare_exchange_strong(word, 0);
        }
    }
}

}  // namespace muster::process
