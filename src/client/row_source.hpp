// The imported file, record by record. A record's number is its position among the file's data
// records, so every reading of the same file gives the same numbers.
#pragma once

#include "base/csv.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace muster::client {

class RowSource {
  public:
    // Opens the file and reads its header. `separator` 0 = guess. Throws UsageError for a file that
    // cannot be read, is empty, is UTF-16, or has a header that is not UTF-8, holds an address, or
    // has more than 500 columns.
    RowSource(const std::string& path, char separator);
    RowSource(const RowSource&) = delete;
    RowSource& operator=(const RowSource&) = delete;

    // The header's names, made unique (column_guess.hpp).
    const std::vector<std::string>& columns() const { return columns_; }
    char separator() const { return reader_.separator(); }

    // The next record and its number, 1-based; false at the end. Skips records without
    // text. Throws UsageError with the line for a record that is not CSV.
    bool next(std::vector<std::string>& cells, std::uint32_t& number);

  private:
    bool read(std::vector<std::string>& cells);

    std::string path_;
    std::ifstream file_;
    CsvReader reader_;
    std::vector<std::string> columns_;
    std::uint32_t number_ = 0;
};

}  // namespace muster::client
