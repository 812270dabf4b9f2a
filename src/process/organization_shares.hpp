// Limits how many workers of a group process requests of one organization at the same time. All
// workers of the group share the table in memory mapped before the fork. The parent frees the
// permits of a worker that has died.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace muster::process {

class OrganizationShares {
  public:
    static constexpr std::size_t kPlaces = 1024;

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

    // A permit of this organization for the calling process. nullopt if `most` are held. Of several
    // simultaneous calls for the last permit, all may fail. Never waits.
    std::optional<Permit> try_acquire(std::string_view organization, std::size_t most);
    // Whether fewer than `most` permits of the organization are held.
    bool has_room(std::string_view organization, std::size_t most) const;
    // Frees all permits of a process that has ended.
    void release_all_of(pid_t process);

  private:
    struct Place;
    std::size_t held_by(std::uint64_t tag) const;

    Place* table_;
};

// Half of the workers of a group, at least one.
constexpr std::size_t half_of(int workers) {
    return workers > 1 ? static_cast<std::size_t>(workers) / 2 : 1;
}

}  // namespace muster::process
