// CSV (RFC 4180): a streaming reader for files as the world writes them, and a writer whose cells
// no spreadsheet runs as a formula.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

class CsvReader {
  public:
    // Reads from `in`, which must outlive it. A UTF-8 byte order mark is skipped; the separator
    // (`,` `;` or tab) is guessed from the first record unless given.
    explicit CsvReader(std::istream& in, char separator = 0);

    // The next record into `cells`; false at the end. Blank lines are skipped. Quotes may hold
    // separators, line ends and doubled quotes; line ends are CRLF, LF or CR. Throws
    // std::runtime_error with the line number for a quote that never ends, text behind a closing
    // quote, or a stream that cannot be read.
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
    std::string buffer_;  // read, and from at_ on not used yet
    std::size_t at_ = 0;
};

enum class CsvCells { Guarded, Raw };

// Appends one cell, quoted where RFC 4180 asks. Guarded: a leading = + - @ tab CR or ' gets a ' in
// front.
void append_csv_cell(std::string& to, std::string_view cell, CsvCells cells);
// Takes the guard off again: the inverse of Guarded.
[[nodiscard]] std::string_view without_csv_guard(std::string_view cell);

}  // namespace muster
