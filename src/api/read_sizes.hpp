// How much the last requests of each organization read or answered, by operation: the best guess of
// what its next ones read. A member can have hundreds of KiB, and a request does not show it
// (docs/decisions/http.md "A request costs its organization, not the others").
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace muster::api {

// For one worker, and one thread.
class ReadSizes {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kHalfLife{4};
    // Less than this is not kept.
    static constexpr std::size_t kLeast = std::size_t{16} << 10U;
    // More entries than this are forgotten together.
    static constexpr std::size_t kMost = 4096;

    // `operation` must have static storage.
    void note(const std::string& organization, std::string_view operation, std::size_t bytes,
              Clock::time_point now = Clock::now());
    // The largest number of bytes, which counts half after each kHalfLife; 0 if there was none.
    // Small requests do not change it: a client could mix them with large ones.
    std::size_t of(const std::string& organization, std::string_view operation,
                   Clock::time_point now = Clock::now()) const;

  private:
    struct Read {
        std::size_t bytes = 0;
        Clock::time_point at;
    };
    std::map<std::pair<std::string, std::string_view>, Read> reads_;
};

}  // namespace muster::api
