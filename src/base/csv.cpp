// The reader reads blocks from the stream and copies whole spans into cells. csv.hpp states what it
// accepts.
#include "base/csv.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace muster {
namespace {

constexpr std::size_t kBlockBytes = 64U << 10U;
// The separator is guessed from at most this much of the first record.
constexpr std::size_t kGuessBytes = 1U << 20U;
constexpr std::size_t kMostCells = 16'384;        // in a record
constexpr std::string_view kSeparators = ",;\t";  // the first one wins if two are equally frequent
// Spreadsheets run a cell as a formula if it begins with one of these. U+FF1D, U+FF0B, U+FF0D and
// U+FF20 are the full-width forms of = + - @.
constexpr std::array<std::string_view, 12> kGuarded = {"=",
                                                       "+",
                                                       "-",
                                                       "@",
                                                       "\t",
                                                       "\r",
                                                       "\n",
                                                       "'",
                                                       "\xef\xbc\x9d",
                                                       "\xef\xbc\x8b",
                                                       "\xef\xbc\x8d",
                                                       "\xef\xbc\xa0"};
// Quotes keep a cell together in a program that splits at another separator.
constexpr auto kIsQuoted = [] {
    std::array<bool, 256> is_quoted{};
    for (const char c : std::string_view("\"\r\n,;\t"))
        is_quoted[static_cast<unsigned char>(c)] = true;
    return is_quoted;
}();

bool is_line_end(char c) {
    return c == '\r' || c == '\n';
}

// Some programs skip leading spaces.
bool needs_guard(std::string_view cell) {
    cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    return std::ranges::any_of(kGuarded,
                               [&](std::string_view sign) { return cell.starts_with(sign); });
}

bool needs_quotes(std::string_view cell, char separator) {
    return cell.starts_with(' ') || std::ranges::any_of(cell, [separator](char c) {
               return c == separator || kIsQuoted[static_cast<unsigned char>(c)];
           });
}

[[noreturn]] void refuse(std::size_t line, std::string_view reason) {
    throw std::runtime_error("line " + std::to_string(line) + ": " + std::string(reason));
}

// Counts the separators outside quotes, one character at a time, until the record ends.
class SeparatorCount {
  public:
    // False once the record has ended.
    bool count(char c) {
        const bool opens = cell_begins_ || (quoted_ && closed_);
        if (quoted_ && !closed_) {
            closed_ = c == '"';
            return true;
        }
        cell_begins_ = false;
        if (c == '"' && opens) {
            quoted_ = true;
            closed_ = false;
            return true;
        }
        quoted_ = false;
        if (is_line_end(c)) return false;
        const std::size_t candidate = kSeparators.find(c);
        if (candidate != std::string_view::npos) {
            ++counts_[candidate];
            cell_begins_ = true;
        }
        return true;
    }

    char most_frequent() const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < counts_.size(); ++i) {
            if (counts_[i] > counts_[best]) best = i;
        }
        return kSeparators[best];
    }

  private:
    bool cell_begins_ = true;
    bool quoted_ = false;  // inside quotes, or directly after the closing one
    bool closed_ = false;
    std::array<std::size_t, kSeparators.size()> counts_{};
};

}  // namespace

CsvReader::CsvReader(std::istream& in, char separator) : in_(in), separator_(separator) {}

bool CsvReader::next(std::vector<std::string>& cells) {
    if (!started_) start();
    while (skip_line_end()) continue;
    if (peek() == kEnd) {
        cells.clear();
        return false;
    }
    record_line_ = line_;
    std::size_t count = 0;
    for (;;) {
        if (count == kMostCells) refuse(line_, "a record with more than 16,384 cells");
        if (count == cells.size()) cells.emplace_back();
        read_cell(cells[count++]);
        if (peek() != static_cast<unsigned char>(separator_)) break;
        get();
    }
    skip_line_end();
    cells.resize(count);
    return true;
}

int CsvReader::get() {
    const int c = peek();
    if (c != kEnd) ++at_;
    return c;
}

int CsvReader::peek() {
    if (at_ == buffer_.size() && !fill()) return kEnd;
    return static_cast<unsigned char>(buffer_[at_]);
}

// False at the end of the stream.
bool CsvReader::fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + kBlockBytes);
    in_.read(buffer_.data() + kept, kBlockBytes);
    const auto count = static_cast<std::size_t>(in_.gcount());
    buffer_.resize(kept + count);
    // A disk error must not look like the end of the file.
    if (in_.fail() && !in_.eof()) refuse(line_, "the file cannot be read");
    return count > 0;
}

void CsvReader::start() {
    started_ = true;
    fill();
    if (std::string_view(buffer_).starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (skip_line_end()) continue;
    if (separator_ == 0) separator_ = guess_separator();
}

char CsvReader::guess_separator() {
    SeparatorCount count;
    for (std::size_t i = 0; i < kGuessBytes; ++i) {
        if (at_ + i == buffer_.size() && !fill()) break;
        if (!count.count(buffer_[at_ + i])) break;
    }
    return count.most_frequent();
}

bool CsvReader::skip_line_end() {
    const int c = peek();
    if (c != '\r' && c != '\n') return false;
    get();
    if (c == '\r' && peek() == '\n') get();
    ++line_;
    return true;
}

void CsvReader::read_cell(std::string& cell) {
    cell.clear();
    if (peek() == '"') {
        read_quoted(cell);
        const int c = peek();
        if (c == kEnd || c == static_cast<unsigned char>(separator_)) return;
        if (!is_line_end(static_cast<char>(c))) refuse(line_, "text after a closing quote");
        return;
    }
    do {
        const std::size_t end = plain_end();
        cell.append(buffer_, at_, end - at_);
        at_ = end;
        if (cell.size() > kMostCellBytes) refuse(line_, "a cell of more than 1 MiB");
    } while (at_ == buffer_.size() && fill());
}

void CsvReader::read_quoted(std::string& cell) {
    const std::size_t first_line = line_;
    get();
    for (;;) {
        const int c = get();
        if (c == kEnd) refuse(first_line, "a quote without a closing quote");
        if (c == '"') {
            if (peek() != '"') return;
            get();
        }
        if (c == '\n' || (c == '\r' && peek() != '\n')) ++line_;
        cell += static_cast<char>(c);
        if (cell.size() > kMostCellBytes)
            refuse(first_line, "a quoted cell of more than 1 MiB; is a closing quote missing?");
    }
}

// The end of an unquoted cell within the buffer.
std::size_t CsvReader::plain_end() const {
    std::size_t end = at_;
    while (end < buffer_.size() && buffer_[end] != separator_ && !is_line_end(buffer_[end])) ++end;
    return end;
}

void append_csv_cell(std::string& to, std::string_view cell, CsvCells cells, char separator) {
    const bool guard = cells == CsvCells::Guarded && needs_guard(cell);
    if (!needs_quotes(cell, separator)) {
        if (guard) to += '\'';
        to += cell;
        return;
    }
    to += '"';
    if (guard) to += '\'';
    for (const char c : cell) {
        if (c == '"') to += '"';
        to += c;
    }
    to += '"';
}

std::string_view without_csv_guard(std::string_view cell) {
    if (cell.size() >= 2 && cell.front() == '\'' && needs_guard(cell.substr(1))) {
        cell.remove_prefix(1);
    }
    return cell;
}

}  // namespace muster
