#include "api/reply_sizes.hpp"

#include <algorithm>

namespace muster::api {

void ReplySizes::note(const std::string& organization, std::size_t bytes) {
    if (sizes_.size() >= kMost && !sizes_.contains(organization)) sizes_.clear();
    std::size_t& size = sizes_[organization];
    size = std::max(size - size / 8, bytes);
}

std::size_t ReplySizes::of(const std::string& organization) const {
    const auto found = sizes_.find(organization);
    return found == sizes_.end() ? 0 : found->second;
}

}  // namespace muster::api
