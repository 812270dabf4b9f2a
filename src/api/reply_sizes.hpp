// How large the last replies to each organization were, by operation: the best guess of what its
// next requests read. A member can have hundreds of KiB, and a request does not show it
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
class ReplySizes {
  public:
    using Clock = std::chrono::steady_clock;
    // More entries than this are forgotten together.
    static constexpr std::size_t kMost = 4096;

    // `operation` must have static storage.
    void note(const std::string& organization, std::string_view operation, std::size_t bytes,
              Clock::time_point now = Clock::now());
    // The largest reply, which counts half with each second after it; 0 if there was none. Small
    // replies do not change it: a client could mix them with large ones.
    std::size_t of(const std::string& organization, std::string_view operation,
                   Clock::time_point now = Clock::now()) const;

  private:
    struct Reply {
        std::size_t bytes = 0;
        Clock::time_point at;
    };
    std::map<std::pair<std::string, std::string_view>, Reply> replies_;
};

}  // namespace muster::api
