// The CSV file of the rows that were not imported, and of those that were imported without a value:
// the columns of the imported file, and the reasons. A person can correct it in a spreadsheet and
// import it again.
#pragma once

#include "client/row_fault.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// A record with its faults.
struct ReportedRow {
    const std::vector<std::string>& cells;
    std::uint32_t number;  // as the API counts
    std::size_t line;      // of the file
    bool is_rejected;      // otherwise it is sent without the values that have faults
    const std::vector<RowFault>& faults;
};

// True if these columns include all that a report adds to those of its file.
[[nodiscard]] bool is_report_header(const std::vector<std::string>& columns);

class ErrorReport {
  public:
    // The file is opened at the first row; until then an older file is unchanged.
    explicit ErrorReport(std::string path) : path_(std::move(path)) {}

    // Starts again, for a file with these columns. The columns that a report adds to those of its
    // file are not repeated.
    void begin(const std::vector<std::string>& columns, char separator);
    // Throws UsageError if the file cannot be written.
    void add(const ReportedRow& row);
    // Writes buffered rows to the file. Throws UsageError.
    void flush();

    // Deletes the file if this run wrote no row to it. `is_clean`: the run had no faults, so the
    // report of an earlier run is deleted too. Leaves a file that is not a report.
    void remove_empty(bool is_clean) const;

    // Deletes what this run has written: the rows of a reading that was not completed.
    void discard();

    bool has_rows() const { return rows_ > 0 && !has_failed_; }
    const std::string& path() const { return path_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
    };
    void open();
    void write(std::string_view text);
    [[noreturn]] void fail();

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    std::vector<std::string> columns_;
    std::vector<bool> is_kept_;
    char separator_ = ',';
    std::uint64_t rows_ = 0;
    bool has_failed_ = false;
};

}  // namespace muster::client
