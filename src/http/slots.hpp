// How many workers may wait for something slow at once, counted by all of them together in memory
// mapped before the fork: a provider of external data that hangs must not take the whole pool.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
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

    // One of the first `most` slots; nullopt when all are taken. Never waits.
    std::optional<Held> take(std::size_t most, Clock::time_point now = Clock::now());

  private:
    struct Slot;
    Slot* table_;
};

}  // namespace muster::http
