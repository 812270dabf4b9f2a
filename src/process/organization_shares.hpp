// Limits how many workers of a group process requests of one organization at the same time. All
// workers of the group share the table in memory mapped before the fork. The parent frees the
// permits of a worker that has died.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace muster::process {

// How many permits of a group one organization may hold.
struct ShareLimit {
    std::size_t most = 1;
    // The same for permits that it has held for less than kYoung. A request that takes longer waits
    // for a lock or for another server, and needs no processor.
    std::size_t most_young = std::numeric_limits<std::size_t>::max();
};

class OrganizationShares {
  public:
    using Clock = std::chrono::steady_clock;  // the same for all processes of the machine

    static constexpr std::size_t kPlaces = 1024;
    static constexpr std::chrono::milliseconds kYoung{2000};

    OrganizationShares();  // construct before the fork
    ~OrganizationShares();
    OrganizationShares(const OrganizationShares&) = delete;
    OrganizationShares& operator=(const OrganizationShares&) = delete;

    // Counts for the organization until its destruction.
    class Permit {
      public:
        Permit(Permit&& other) noexcept
            : shares_(std::exchange(other.shares_, nullptr)),
              place_(other.place_),
              word_(other.word_) {}
        Permit(const Permit&) = delete;
        Permit& operator=(const Permit&) = delete;
        Permit& operator=(Permit&&) = delete;
        ~Permit();

      private:
        friend class OrganizationShares;
        Permit(OrganizationShares* shares, std::size_t place, std::uint64_t word)
            : shares_(shares), place_(place), word_(word) {}

        OrganizationShares* shares_;  // nullptr: the table was full, so the permit is not counted
        std::size_t place_;
        std::uint64_t word_;
    };

    // A permit of this organization for the calling process. nullopt if its limit is reached. If
    // several processes ask for the last permit at once, all of them may fail. Never waits.
    std::optional<Permit> try_acquire(std::string_view organization, const ShareLimit& limit,
                                      Clock::time_point now = Clock::now());
    // Whether the organization holds fewer permits than its limit.
    bool has_room(std::string_view organization, const ShareLimit& limit,
                  Clock::time_point now = Clock::now()) const;
    // Frees all permits of a process that has ended.
    void release_all_of(pid_t process);

  private:
    struct Place;
    struct Held {
        std::size_t all = 0;
        std::size_t young = 0;
    };
    Held held_by(std::uint64_t tag, Clock::time_point now) const;

    Place* table_;
};

// Half of the workers of a group, at least one.
constexpr std::size_t half_of(int workers) {
    return workers > 1 ? static_cast<std::size_t>(workers) / 2 : 1;
}

}  // namespace muster::process
