#include "base/words.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace muster {
namespace {

// The insertions, deletions, replacements and swaps of neighbors that make `to` of `from`
// (optimal string alignment).
std::size_t edits(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before;
    std::vector<std::size_t> last(to.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::vector<std::size_t> row(to.size() + 1, i);
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t cost = from[i - 1] == to[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
            const bool is_swap =
                i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(last, std::move(row));
    }
    return last.back();
}

}  // namespace

std::string listed(std::span<const std::string_view> words) {
    std::string text(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
        text.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
    }
    return text;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known) {
    constexpr std::size_t kLongestWord = 64;  // bounds the work
    if (word.size() > kLongestWord) return std::nullopt;
    std::size_t fewest = std::max<std::size_t>(word.size() / 3, 1) + 1;
    std::optional<std::string_view> found;
    for (const std::string_view candidate : known) {
        const std::size_t count = edits(word, candidate);
        if (count >= fewest) continue;
        fewest = count;
        found = candidate;
    }
    return found;
}

}  // namespace muster
