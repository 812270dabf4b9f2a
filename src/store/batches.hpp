// Bulk statements in a few sizes, so that a connection keeps all of them prepared.
#pragma once

#include "db/transaction.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

namespace muster::store {

inline constexpr std::size_t kMostRows = 256;  // per statement

// The number of rows of the next statement, for `left` (1 or more) remaining rows: each number up
// to 16, then 24, 32, 48, 64, 96, 128, 192 and 256. So up to 64 rows need at most two statements.
inline std::size_t batch_size(std::size_t left) {
    constexpr std::size_t kEach = 16;
    const std::size_t most = std::min(left, kMostRows);
    return most <= kEach ? most : most - most % (std::bit_floor(most) / 2);
}

// Calls `use` with the parameters of each batch, for IN lists. The last value fills the last batch
// up to a power of two; the repetitions do not change the result of the list. A caller that uses
// the parameters singly must skip them.
template <class Value, class Use>
void in_batches(std::span<const Value> values, const Use& use) {
    for (std::size_t at = 0; at < values.size(); at += kMostRows) {
        const auto batch = values.subspan(at, std::min(kMostRows, values.size() - at));
        std::vector<db::Param> params(batch.begin(), batch.end());
        params.resize(std::bit_ceil(params.size()), params.back());
        use(params);
    }
}

// Calls `use` with the rows of each statement, for INSERTs.
template <class Row, class Use>
void in_pieces(std::span<const Row> rows, const Use& use) {
    while (!rows.empty()) {
        const auto piece = rows.first(batch_size(rows.size()));
        use(piece);
        rows = rows.subspan(piece.size());
    }
}

}  // namespace muster::store
