// The position of a block in an import job.
#pragma once

#include <compare>
#include <cstdint>

namespace muster::rules {

// A large block has several parts. The number of a part is the index (0 to 499) of its first row in
// the block. It holds the rows up to the first row of the next part.
struct BlockKey {
    std::uint32_t number = 0;
    int part = 0;
    auto operator<=>(const BlockKey&) const = default;
    // The position at which reading continues after this part.
    BlockKey next() const { return {number, part + 1}; }
};

}  // namespace muster::rules
