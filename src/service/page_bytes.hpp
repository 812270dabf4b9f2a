// A page of large records ends early, so that its reply is smaller than the temporary file of
// nginx.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace muster::service {

// The texts of a page's records exceed this only with the last record. JSON may need six bytes for
// each of their bytes.
inline constexpr std::size_t kPageBytes = std::size_t{1} << 20U;

// Removes the records after the one with which the sum of bytes_of(record) exceeds kPageBytes.
// Returns false if there were none.
template <class Record, class BytesOf>
bool end_page_early(std::vector<Record>& records, const BytesOf& bytes_of) {
    std::size_t sum = 0;
    const auto last = std::ranges::find_if(records, [&](const Record& record) {
        sum += bytes_of(record);
        return sum > kPageBytes;
    });
    if (records.end() - last <= 1) return false;
    records.erase(last + 1, records.end());
    return true;
}

}  // namespace muster::service
