#include "rules/access/guess_budget.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

constexpr std::size_t kBytes = 8;

}  // namespace

SpentTimes::SpentTimes(std::string_view packed) {
    if (packed.size() % kBytes != 0 || packed.size() > kMost * kBytes) return;
    for (std::size_t at = 0; at < packed.size(); at += kBytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < kBytes; ++i) {
            value = value << 8U | static_cast<unsigned char>(packed[at + i]);
        }
        times_.emplace_back(static_cast<std::int64_t>(value));
    }
    std::sort(times_.begin(), times_.end());
}

std::optional<int> SpentTimes::exhausted(Budget budget, Timestamp now) const {
    if (times_.size() < budget.most) return std::nullopt;
    const Timestamp oldest = times_[times_.size() - budget.most];
    if (oldest <= now - budget.within) return std::nullopt;
    // A time in the future (the clock was set back) counts as now. So a client never waits longer
    // than the window.
    const auto left = (std::min(oldest, now) + budget.within - now).count();
    return static_cast<int>((left + 999) / 1000);
}

void SpentTimes::spend(Timestamp now, Milliseconds keep) {
    std::erase_if(times_, [&](Timestamp when) { return when <= now - keep; });
    if (times_.size() == kMost) times_.erase(times_.begin());
    times_.push_back(now);
}

std::string SpentTimes::packed() const {
    std::string packed;
    for (const Timestamp when : times_) {
        for (std::size_t i = kBytes; i-- > 0;) {
            packed += static_cast<char>(static_cast<std::uint64_t>(when.milliseconds()) >> 8U * i &
                                        0xffU);
        }
    }
    return packed;
}

}  // namespace muster::rules
