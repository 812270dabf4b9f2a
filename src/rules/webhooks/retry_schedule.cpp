#include "rules/webhooks/retry_schedule.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace muster::rules {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
// The delay after the first attempt, the second attempt, and so on.
constexpr std::array<std::int64_t, kMostAttempts - 1> kSeconds = {
    5,          5 * kMinute, 30 * kMinute, 2 * kHour,  5 * kHour,
    10 * kHour, 14 * kHour,  20 * kHour,   24 * kHour,
};
constexpr double kLeastShare = 0.8;
constexpr double kSpread = 0.4;
constexpr int kGone = 410;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::optional<Milliseconds> next_attempt_after(int made, double random,
                                               std::optional<Milliseconds> retry_after) {
    if (made >= kMostAttempts) return std::nullopt;
    const auto place = static_cast<std::size_t>(std::max(made, 1)) - 1;
    const std::int64_t step = 1000 * kSeconds.at(place);
    const auto spread =
        static_cast<std::int64_t>(static_cast<double>(step) * (kLeastShare + kSpread * random));
    const std::int64_t asked = retry_after ? std::min(retry_after->count(), 2 * step) : 0;
    return Milliseconds(std::max(spread, asked));
}

DeliveryResult delivery_result(std::string_view outcome, std::optional<int> status) {
    if (counted_class(outcome) == "2xx") return DeliveryResult::Delivered;
    if (outcome == kInternalOutcome) return DeliveryResult::SenderFailed;
    return status == kGone ? DeliveryResult::Gone : DeliveryResult::Failed;
}

std::string_view counted_class(std::string_view outcome) {
    return outcome.size() == 3 && outcome.front() == '2' ? "2xx" : outcome;
}

std::string readable_excerpt(std::string_view bytes, std::size_t most) {
    std::string text;
    while (!bytes.empty()) {
        const std::size_t size = character_size(bytes);
        const std::string_view next = size > 0 ? bytes.substr(0, size) : kReplacement;
        if (text.size() + next.size() > most) break;
        text += next;
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return text;
}

}  // namespace muster::rules
