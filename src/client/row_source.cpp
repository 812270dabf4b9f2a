#include "client/row_source.hpp"

#include "base/email.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/column_guess.hpp"
#include "client/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace muster::client {
namespace {

constexpr std::size_t kMostColumns = 500;  // docs/api/limits.md "Limits"

bool is_blank(const std::vector<std::string>& cells) {
    return std::all_of(cells.begin(), cells.end(),
                       [](const std::string& cell) { return trimmed(cell).empty(); });
}

std::ifstream open_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 2> mark{};
    if (!file || !(file.peek(), file.good() || file.eof())) {
        throw UsageError(path + " cannot be read: " + std::generic_category().message(errno));
    }
    file.read(mark.data(), mark.size());
    const std::string_view start(mark.data(), static_cast<std::size_t>(file.gcount()));
    if (start == "\xFF\xFE" || start == "\xFE\xFF") {
        throw UsageError(path + " is UTF-16 text; save it as CSV in UTF-8");
    }
    file.clear();
    file.seekg(0);
    return file;
}

}  // namespace

RowSource::RowSource(const std::string& path, char separator)
    : path_(path), file_(open_file(path)), reader_(file_, separator) {
    std::vector<std::string> header;
    if (!read(header)) throw UsageError(path_ + " is empty");
    for (const std::string& cell : header) {
        if (!is_utf8(cell)) throw UsageError(path_ + " is not UTF-8 text; save it as CSV in UTF-8");
    }
    if (is_blank(header)) throw UsageError(path_ + " has no column names in its first line");
    for (std::string cell : header) {
        if (!normalize_email(cell)) {
            throw UsageError(path_ + " has no column names: its first line holds the address " +
                             printable(cell) + "; add a line with the names of the columns");
        }
    }
    columns_ = unique_column_names(header);
    if (columns_.size() > kMostColumns) {
        throw UsageError(path_ + " has " + std::to_string(columns_.size()) +
                         " columns; a file may have " + std::to_string(kMostColumns));
    }
}

bool RowSource::read(std::vector<std::string>& cells) {
    try {
        return reader_.next(cells);
    } catch (const std::exception& error) {
        throw UsageError(path_ + ": " + error.what());
    }
}

bool RowSource::next(std::vector<std::string>& cells, std::uint32_t& number) {
    do {
        if (!read(cells)) return false;
    } while (is_blank(cells));
    number = ++number_;
    return true;
}

}  // namespace muster::client
