// Limits the number of attempts within a time window. It stores the time of each attempt, packed
// for the database: an exact sliding window, not a counter that is reset every hour.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

struct Budget {
    std::size_t most;  // at most SpentTimes::kMost
    Milliseconds within;
};

class SpentTimes {
  public:
    static constexpr std::size_t kMost = 64;  // the limit of the database column

    SpentTimes() = default;
    // Reads the packed form. Invalid input counts as no attempts.
    explicit SpentTimes(std::string_view packed);

    // Seconds until the next attempt is allowed; nullopt if it is allowed now.
    [[nodiscard]] std::optional<int> exhausted(Budget budget, Timestamp now) const;
    // Removes attempts older than `keep` and adds one at `now`.
    void spend(Timestamp now, Milliseconds keep);
    [[nodiscard]] std::size_t size() const { return times_.size(); }
    [[nodiscard]] std::string packed() const;

  private:
    std::vector<Timestamp> times_;  // ascending
};

}  // namespace muster::rules
