// The imported file, record by record. A record's number is its position among the file's data
// records, so every reading of the same file gives the same numbers.
#pragma once

#include "base/csv.hpp"
#include "client/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace muster::client {

enum class Header { Guess, None };

class RowSource {
  public:
    // Reads the first record of `file`, which must outlive the source. It holds the names of the
    // columns, unless it holds an address or `header` is None: then it is a row, and the columns
    // are called "column 1" and so on. `separator` 0 = guess.
    //
    // Throws UsageError for a file that cannot be read or is empty, and for a header that is not
    // UTF-8 or has more than 500 columns.
    RowSource(const InputFile& file, char separator, Header header);
    RowSource(const RowSource&) = delete;
    RowSource& operator=(const RowSource&) = delete;

    // The header's names, made unique (column_guess.hpp).
    const std::vector<std::string>& columns() const { return columns_; }
    bool has_header() const { return has_header_; }
    char separator() const { return reader_.separator(); }
    // The line of the file on which the last record began, 1-based.
    std::size_t line() const { return line_; }

    // The next record and its number, 1-based; false at the end. Skips records without
    // text. Throws UsageError with the line for a record that is not CSV, and Stopped.
    bool next(std::vector<std::string>& cells, std::uint32_t& number);

  private:
    bool read(std::vector<std::string>& cells);
    void name_columns(const std::vector<std::string>& first);

    const InputFile& file_;
    std::string name_;
    std::size_t lines_before_;  // a line such as `sep=;`
    std::unique_ptr<std::streambuf> text_;
    std::istream stream_;
    CsvReader reader_;
    std::vector<std::string> columns_;
    std::vector<std::string> first_;  // the first record, if it is a row
    bool has_header_ = true;
    std::uint32_t number_ = 0;
    std::size_t line_ = 0;
};

}  // namespace muster::client
