#include "process/organization_shares.hpp"

#include "process/shared_memory.hpp"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>

// A place is one word: the tag of the organization above the id of the process that holds the
// permit, or 0. One compare-exchange changes it, so a worker that dies leaves no partial state.

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

}  // namespace

struct OrganizationShares::Place {
    std::atomic<std::uint64_t> word{0};
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

std::size_t OrganizationShares::held_by(std::uint64_t tag) const {
    std::size_t held = 0;
    for (std::size_t place = 0; place < kPlaces; ++place) {
        const std::uint64_t word = table_[place].word.load(std::memory_order_relaxed);
        if (word != 0 && (word & ~kProcessMask) == tag) ++held;
    }
    return held;
}

bool OrganizationShares::has_room(std::string_view organization, std::size_t most) const {
    return held_by(tag_of_organization(organization)) < most;
}

std::optional<OrganizationShares::Permit> OrganizationShares::try_acquire(
    std::string_view organization, std::size_t most) {
    const std::uint64_t tag = tag_of_organization(organization);
    if (held_by(tag) >= most) return std::nullopt;
    const std::uint64_t word = tag | word_of_process(getpid());
    for (std::size_t place = 0; place < kPlaces; ++place) {
        std::uint64_t expected = 0;
        if (table_[place].word.load(std::memory_order_relaxed) != 0 ||
            !table_[place].word.compare_exchange_strong(expected, word)) {
            continue;
        }
        Permit permit(this, place, word);
        // Another worker may have taken the last permit since the count.
        if (held_by(tag) > most) return std::nullopt;
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
