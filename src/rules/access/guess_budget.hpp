// How often something may be tried within a time: the moments that were spent, packed for the
// database. An exact sliding window, not a counter that starts anew at the full hour.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

struct Budget {
    std::size_t most;  // at most 64: what the database has room for
    Milliseconds within;
};

class SpentTimes {
  public:
    SpentTimes() = default;
    // What the database holds; anything else counts as nothing spent.
    explicit SpentTimes(std::string_view packed);

    // Seconds until the budget has room again; nullopt: it has.
    [[nodiscard]] std::optional<int> exhausted(Budget budget, Timestamp now) const;
    // Forgets what lies further back than `keep`, and adds now.
    void spend(Timestamp now, Milliseconds keep);
    [[nodiscard]] std::string packed() const;

  private:
    std::vector<Timestamp> times_;  // ascending
};

}  // namespace muster::rules
