#include "base/random.hpp"

#include "base/crypto.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace muster {
namespace {

// Counts the forks from the first process to this one. A comparison of process ids would be a
// system call per draw.
std::atomic<unsigned>& fork_count() {
    static std::atomic<unsigned> count{0};
    return count;
}

void count_fork() {
    fork_count().fetch_add(1, std::memory_order_relaxed);
}

// Call it before the first buffer is filled: only later forks are counted.
void watch_forks() {
    static const bool kWatched = pthread_atfork(nullptr, nullptr, count_fork) == 0;
    if (!kWatched) throw std::runtime_error("pthread_atfork failed");
}

class RandomPool {
  public:
    RandomPool() { watch_forks(); }
    ~RandomPool() { explicit_bzero(pool_.data(), pool_.size()); }
    RandomPool(const RandomPool&) = delete;
    RandomPool& operator=(const RandomPool&) = delete;

    void draw(void* to, std::size_t count) {
        const unsigned now = fork_count().load(std::memory_order_relaxed);
        if (count > pool_.size() - used_ || forks_ != now) {
            if (count > pool_.size()) return random_bytes(to, count);
            refill(now);
        }
        std::uint8_t* bytes = pool_.data() + used_;
        std::memcpy(to, bytes, count);
        explicit_bzero(bytes, count);
        used_ += count;
    }

  private:
    void refill(unsigned now) {
        used_ = pool_.size();  // if OpenSSL fails, the pool stays empty
        random_bytes(pool_.data(), pool_.size());
        used_ = 0;
        forks_ = now;
    }

    std::array<std::uint8_t, 4096> pool_{};
    std::size_t used_ = pool_.size();
    unsigned forks_ = 0;
};

}  // namespace

void draw_random(void* to, std::size_t count) {
    thread_local RandomPool pool;
    pool.draw(to, count);
}

}  // namespace muster
