// Tables for a terminal: a heading, then a line for each record, in aligned columns.
#pragma once

#include "base/printable.hpp"
#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::ctl {

// 2026-11-22T13:09:20Z; `otherwise` without a time.
[[nodiscard]] std::string time_cell(const std::optional<Timestamp>& when,
                                    std::string_view otherwise = "never");

class Table {
  public:
    explicit Table(const std::vector<std::string_view>& headings);
    // A cell for each heading. Cells are made printable; an empty one shows as "-".
    void add(const std::vector<std::string>& cells);
    // A column is as wide as its widest cell, but at most 64 columns of the terminal. A longer cell
    // is shown whole and moves the rest of its line.
    [[nodiscard]] std::string text() const;

  private:
    std::vector<std::vector<std::string>> lines_;
};

}  // namespace muster::ctl
