#include "api/read_sizes.hpp"

#include <algorithm>
#include <cstdint>

namespace muster::api {
namespace {

std::size_t halved(std::size_t bytes, ReadSizes::Clock::duration age) {
    constexpr std::int64_t kForgotten = 32;
    return bytes >> std::min<std::int64_t>(age / ReadSizes::kHalfLife, kForgotten);
}

}  // namespace

void ReadSizes::note(const std::string& organization, std::string_view operation, std::size_t bytes,
                     Clock::time_point now) {
    if (bytes < kLeast || bytes < of(organization, operation, now)) return;
    const std::pair key(organization, operation);
    if (reads_.size() >= kMost && !reads_.contains(key)) reads_.clear();
    reads_[key] = {bytes, now};
}

std::size_t ReadSizes::of(const std::string& organization, std::string_view operation,
                          Clock::time_point now) const {
    const auto found = reads_.find({organization, operation});
    return found == reads_.end() ? 0 : halved(found->second.bytes, now - found->second.at);
}

}  // namespace muster::api
