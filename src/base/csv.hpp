// CSV (RFC 4180): a streaming reader that accepts common deviations, and a writer that keeps
// spreadsheets from running a cell as a formula.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

class CsvReader {
  public:
    static constexpr std::size_t kMostCellBytes = std::size_t{1} << 20U;

    // Reads from `in`, which must outlive the reader. Skips a UTF-8 byte order mark. Guesses the
    // separator (`,` `;` or tab) from the first record unless `separator` is given.
    explicit CsvReader(std::istream& in, char separator = 0);

    // Reads the next record into `cells`; false at the end. Skips blank lines. Quoted cells may
    // contain separators, line ends and doubled quotes. Line ends are CRLF, LF or CR.
    //
    // Throws std::runtime_error with the line number if a quote is not closed, if text follows a
    // closing quote, if a cell has more than kMostCellBytes or a record more than 16,384 cells, or
    // if the stream cannot be read.
    bool next(std::vector<std::string>& cells);
    // The line (1-based) on which the last record began.
    std::size_t line() const { return record_line_; }
    char separator() const { return separator_; }

  private:
    static constexpr int kEnd = -1;

    int get();
    int peek();
    bool fill();
    void start();
    char guess_separator();
    bool skip_line_end();
    void read_cell(std::string& cell);
    void read_quoted(std::string& cell);
    std::size_t plain_end() const;

    std::istream& in_;
    char separator_;
    bool started_ = false;
    std::size_t line_ = 1;
    std::size_t record_line_ = 0;
    std::string buffer_;  // the bytes from at_ on are not consumed yet
    std::size_t at_ = 0;
};

enum class CsvCells { Guarded, Raw };

// Appends one cell. Quotes it where RFC 4180 requires it, and also if it has a comma, a semicolon,
// a tab or a leading space. Guarded: puts a ' before a cell whose first character other than a
// space is = + - @, the full-width form of one, tab, CR, LF or '.
void append_csv_cell(std::string& to, std::string_view cell, CsvCells cells, char separator = ',');
// Removes the ' that Guarded adds.
[[nodiscard]] std::string_view without_csv_guard(std::string_view cell);

}  // namespace muster
