// How many workers may wait for something slow at once, counted by all of them together in memory
// mapped before the fork: a provider of external data that hangs must take neither the whole pool
// nor, where there is more than one slot, all that others wait in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace muster::http {

class Slots {
  public:
    using Clock = std::chrono::steady_clock;  // one for all processes of the machine

    static constexpr std::size_t kMost = 64;
    // A slot that was taken so long ago is free again: its worker died.
    static constexpr std::chrono::seconds kLife{30};

    Slots();  // before the fork
    ~Slots();
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;

    // A slot, free again when this dies.
    class Held {
      public:
        Held(Held&& other) noexcept
            : slots_(std::exchange(other.slots_, nullptr)),
              place_(other.place_),
              until_(other.until_) {}
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        Held& operator=(Held&&) = delete;
        ~Held();

      private:
        friend class Slots;
        Held(Slots& slots, std::size_t place, std::uint64_t until)
            : slots_(&slots), place_(place), until_(until) {}

        Slots* slots_;
        std::size_t place_;
        std::uint64_t until_;
    };

    // One of the first `most` slots, to wait for `whom`; nullopt when all are taken, or all but one
    // by those who wait for the same. Never waits. (Two who ask in the same moment may both be let
    // in where one was left for others.)
    std::optional<Held> take(std::size_t most, std::string_view whom,
                             Clock::time_point now = Clock::now());

  private:
    struct Slot;
    Slot* table_;
};

}  // namespace muster::http
