// How many rows of an import job have each error. The number of entries is bounded, whatever keys
// the rows contain.
#pragma once

#include "rules/imports/row_states.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::rules {

struct RowOutcome;

struct ErrorCount {
    RowError error = RowError::None;
    std::string field;  // row_error_field(); "" also for the rows that exceed the bound
    std::int64_t count = 0;

    bool operator==(const ErrorCount&) const = default;
};

class ErrorCounts {
  public:
    // Beyond this number of fields for an error, rows are counted without their field.
    static constexpr std::size_t kMostFields = 20;

    void add(RowError error, std::string_view field, std::int64_t count = 1);
    // Counts the rows that have an error: invalid, failed, or kept by an undo.
    void add(const std::vector<RowOutcome>& outcomes);
    void add(const ErrorCounts& other);
    bool empty() const { return counts_.empty(); }
    // The most frequent first.
    std::vector<ErrorCount> list() const;

  private:
    std::size_t fields_of(RowError error) const;

    std::map<std::pair<RowError, std::string>, std::int64_t> counts_;
};

// JSON text for a database column.
[[nodiscard]] std::string encode_error_counts(const ErrorCounts& counts);
// Skips entries that it cannot read.
[[nodiscard]] ErrorCounts decode_error_counts(std::string_view json);

}  // namespace muster::rules
