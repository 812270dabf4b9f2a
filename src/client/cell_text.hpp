// The text of a cell.
#pragma once

#include "base/csv.hpp"
#include "base/text.hpp"

#include <string_view>

namespace muster::client {

// `cell` without white space, and without the mark that keeps a spreadsheet from running it.
[[nodiscard]] inline std::string_view cell_text(std::string_view cell) {
    return trimmed(without_csv_guard(trimmed(cell)));
}

}  // namespace muster::client
