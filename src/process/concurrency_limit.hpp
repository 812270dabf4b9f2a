// Limits how many workers wait for slow servers at the same time. All workers share the count in
// memory mapped before the fork. A hanging provider of external data must not occupy the whole
// pool, nor all slots if there is more than one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace muster::process {

class ConcurrencyLimit {
  public:
    using Clock = std::chrono::steady_clock;  // the same for all processes of the machine

    static constexpr std::size_t kMost = 64;
    // A slot expires after this time, in case its worker died.
    static constexpr std::chrono::seconds kLife{30};

    ConcurrencyLimit();  // construct before the fork
    ~ConcurrencyLimit();
    ConcurrencyLimit(const ConcurrencyLimit&) = delete;
    ConcurrencyLimit& operator=(const ConcurrencyLimit&) = delete;

    // Holds a slot and frees it on destruction.
    class Permit {
      public:
        Permit(Permit&& other) noexcept
            : slots_(std::exchange(other.slots_, nullptr)),
              place_(other.place_),
              until_(other.until_) {}
        Permit(const Permit&) = delete;
        Permit& operator=(const Permit&) = delete;
        Permit& operator=(Permit&&) = delete;
        ~Permit();

      private:
        friend class ConcurrencyLimit;
        Permit(ConcurrencyLimit& slots, std::size_t place, std::uint64_t until)
            : slots_(&slots), place_(place), until_(until) {}

        ConcurrencyLimit* slots_;
        std::size_t place_;
        std::uint64_t until_;
    };

    struct Bounds {
        std::size_t most;            // slots of all targets
        std::size_t most_of_target;  // slots of one target
        std::chrono::seconds life = kLife;
    };
    // Takes one of the first `most` slots to wait for `target`. nullopt if all are taken, or if
    // workers that wait for the same target hold its share. Never waits.
    std::optional<Permit> try_acquire(const Bounds& bounds, std::string_view target,
                                      Clock::time_point now = Clock::now());
    // The same; one target leaves one slot to others, unless there is only one.
    std::optional<Permit> try_acquire(std::size_t most, std::string_view target,
                                      Clock::time_point now = Clock::now());

  private:
    struct Slot;
    // The number of live slots with the tag among the first `places`.
    std::size_t count(std::size_t places, std::uint64_t tag, std::uint64_t now) const;

    Slot* table_;
};

}  // namespace muster::process
