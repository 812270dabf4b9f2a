// Bulk statements in few lengths, powers of two, so that a connection keeps all of them prepared.
#pragma once

#include "db/transaction.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

namespace muster::store {

inline constexpr std::size_t kMostRows = 256;  // of one statement

// How many of `left` rows (1 or more) the next statement takes.
inline std::size_t batch_size(std::size_t left) {
    return std::min(kMostRows, std::bit_floor(left));
}

// Runs `use` with the parameters of each batch, for lists of IN. The last batch repeats its last
// value up to a power of two, which finds nothing more.
template <class Value, class Use>
void in_batches(std::span<const Value> values, const Use& use) {
    for (std::size_t at = 0; at < values.size(); at += kMostRows) {
        const auto batch = values.subspan(at, std::min(kMostRows, values.size() - at));
        std::vector<db::Param> params(batch.begin(), batch.end());
        params.resize(std::bit_ceil(params.size()), params.back());
        use(params);
    }
}

}  // namespace muster::store
