// Which providers the lanes of a runner leave alone for a while, so that one that hangs or is slow
// never takes them all.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// For several threads.
class ProviderTraffic {
  public:
    // A provider that did not answer rests for a minute, one that was slow as long as it took; and
    // this many ask the same one at a time.
    static constexpr int kMostAtOnce = 2;

    // Whom to leave alone now.
    [[nodiscard]] std::vector<std::string> avoided();

  private:
    friend class ProviderVisit;
    struct Provider {
        int visits = 0;
        Timestamp rests_until;
    };
    [[nodiscard]] bool enter(std::string_view provider);
    void leave(std::string_view provider, bool was_reached, Milliseconds took);

    std::mutex mutex_;
    std::map<std::string, Provider, std::less<>> providers_;
};

// While a lane works on a connection to the provider.
class ProviderVisit {
  public:
    ProviderVisit(ProviderTraffic& traffic, std::string_view provider);
    ~ProviderVisit();
    ProviderVisit(const ProviderVisit&) = delete;
    ProviderVisit& operator=(const ProviderVisit&) = delete;

    // False: leave it alone.
    [[nodiscard]] bool is_welcome() const { return is_welcome_; }
    void note_unreached() { was_reached_ = false; }

  private:
    ProviderTraffic& traffic_;
    std::string provider_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    bool is_welcome_;
    bool was_reached_ = true;
};

}  // namespace muster::service
