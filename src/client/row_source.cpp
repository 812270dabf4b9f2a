#include "client/row_source.hpp"

#include "base/command_line.hpp"
#include "base/email.hpp"
#include "base/text.hpp"
#include "client/byte_streams.hpp"
#include "client/column_guess.hpp"
#include "client/stopped.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kMostColumns = 500;  // docs/api/limits.md "Limits"

bool is_blank(const std::vector<std::string>& cells) {
    return std::all_of(cells.begin(), cells.end(),
                       [](const std::string& cell) { return trimmed(cell).empty(); });
}

bool is_address(std::string cell) {
    return is_utf8(cell) && !normalize_email(cell);
}

std::unique_ptr<std::streambuf> text_of_lines(const InputFile& file, char separator) {
    if (!file.may_have_lone_returns()) return file.open();
    return with_one_line_end(file.open(), separator);
}

}  // namespace

RowSource::RowSource(const InputFile& file, char separator, Header header)
    : file_(file),
      name_(file.name()),
      lines_before_(file.first_line() - 1),
      text_(text_of_lines(file, separator == 0 ? file.separator() : separator)),
      stream_(text_.get()),
      reader_(stream_, separator == 0 ? file.separator() : separator) {
    std::vector<std::string> first;
    do {
        if (!read(first)) throw UsageError(name_ + " is empty");
    } while (is_blank(first));
    has_header_ = header == Header::Guess && std::none_of(first.begin(), first.end(), is_address);
    if (has_header_) {
        name_columns(first);
    } else {
        name_columns(std::vector<std::string>(first.size()));
        first_ = std::move(first);
    }
}

void RowSource::name_columns(const std::vector<std::string>& first) {
    if (first.size() > kMostColumns) {
        throw UsageError(name_ + " has " + std::to_string(first.size()) +
                         " columns; a file may have " + std::to_string(kMostColumns));
    }
    if (!std::all_of(first.begin(), first.end(), [](const auto& cell) { return is_utf8(cell); })) {
        throw UsageError(name_ +
                         " has column names that are not in its encoding; name it with "
                         "--encoding");
    }
    columns_ = unique_column_names(first);
}

bool RowSource::read(std::vector<std::string>& cells) {
    try {
        if (!reader_.next(cells)) return false;
    } catch (const std::exception& error) {
        if (file_.is_stopped()) throw Stopped();  // the stream has hidden it
        throw UsageError(name_ + ": " + error.what());
    }
    line_ = lines_before_ + reader_.line();
    return true;
}

bool RowSource::next(std::vector<std::string>& cells, std::uint32_t& number) {
    if (!first_.empty()) {
        cells = std::exchange(first_, {});
        number = ++number_;
        return true;
    }
    do {
        if (!read(cells)) return false;
    } while (is_blank(cells));
    number = ++number_;
    return true;
}

}  // namespace muster::client
