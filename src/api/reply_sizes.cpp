#include "api/reply_sizes.hpp"

#include <algorithm>

namespace muster::api {
namespace {

std::size_t halved(std::size_t bytes, ReplySizes::Clock::duration age) {
    constexpr std::chrono::seconds kForgotten{32};
    const auto seconds = std::chrono::floor<std::chrono::seconds>(age);
    return bytes >> std::min(seconds, kForgotten).count();
}

}  // namespace

void ReplySizes::note(const std::string& organization, std::string_view operation,
                      std::size_t bytes, Clock::time_point now) {
    if (bytes < of(organization, operation, now)) return;
    const std::pair key(organization, operation);
    if (replies_.size() >= kMost && !replies_.contains(key)) replies_.clear();
    replies_[key] = {bytes, now};
}

std::size_t ReplySizes::of(const std::string& organization, std::string_view operation,
                           Clock::time_point now) const {
    const auto found = replies_.find({organization, operation});
    return found == replies_.end() ? 0 : halved(found->second.bytes, now - found->second.at);
}

}  // namespace muster::api
