#include "base/words.hpp"

namespace muster {

std::string listed(std::span<const std::string_view> words) {
    std::string text(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
        text.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
    }
    return text;
}

}  // namespace muster
