// Faults of many records, grouped by reason.
#pragma once

#include "client/row_fault.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace muster::client {

class FaultCounts {
  public:
    void add(const RowFault& fault, std::size_t line);
    bool empty() const { return groups_.empty(); }
    // A line for each reason, the most frequent first, at most ten:
    // "\n  2 rows: Birthday is "04/17"; a date needs a year (first in line 3)"
    [[nodiscard]] std::string text() const;

  private:
    struct Group {
        RowFault first;
        std::size_t line = 0;  // of the first
        std::uint64_t rows = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Group> groups_;
};

}  // namespace muster::client
