// The place of a block among an import job's.
#pragma once

#include <compare>
#include <cstdint>

namespace muster::rules {

// Where a block lies in its job. A heavy block has several parts: a part's number is the place
// (0..499) of its first row in the block, and it holds the rows up to the next part's first.
struct BlockKey {
    std::uint32_t number = 0;
    int part = 0;
    auto operator<=>(const BlockKey&) const = default;
    // Where reading goes on behind this one.
    BlockKey next() const { return {number, part + 1}; }
};

}  // namespace muster::rules
