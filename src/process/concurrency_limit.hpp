// How many workers may wait for something slow at once, counted by all of them together in memory
// mapped before the fork: a provider of external data that hangs must try_acquire neither the whole
// pool nor, where there is more than one slot, all that others wait in.
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
    using Clock = std::chrono::steady_clock;  // one for all processes of the machine

    static constexpr std::size_t kMost = 64;
    // A slot that was taken so long ago is free again: its worker died.
    static constexpr std::chrono::seconds kLife{30};

    ConcurrencyLimit();  // before the fork
    ~ConcurrencyLimit();
    ConcurrencyLimit(const ConcurrencyLimit&) = delete;
    ConcurrencyLimit& operator=(const ConcurrencyLimit&) = delete;

    // A slot, free again when this dies.
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

    // One of the first `most` slots, to wait for `whom`; nullopt when all are taken, or all but one
    // by those who wait for the same. Never waits. (Two who ask in the same moment may both be let
    // in where one was left for others.)
    std::optional<Permit> try_acquire(std::size_t most, std::string_view whom,
                                      Clock::time_point now = Clock::now());

  private:
    struct Slot;
    Slot* table_;
};

}  // namespace muster::process
