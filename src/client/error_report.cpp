#include "client/error_report.hpp"

#include "base/command_line.hpp"
#include "base/csv.hpp"
#include "base/text.hpp"
#include "client/cell_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

namespace muster::client {
namespace {

constexpr std::array<std::string_view, 5> kReportColumns = {"row_number", "line", "result",
                                                            "error_code", "error_message"};

// --errors may name a device.
bool is_regular(std::FILE* file) {
    struct stat status {};
    return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_report_column(const std::string& name) {
    return std::ranges::find(kReportColumns, name) != kReportColumns.end();
}

// The codes or messages of the faults, each once, in their order.
template <class Text>
std::string joined(const std::vector<RowFault>& faults, std::string_view separator, Text text_of) {
    std::vector<std::string> texts;
    std::string all;
    for (const RowFault& fault : faults) {
        std::string text = text_of(fault);
        if (std::ranges::find(texts, text) != texts.end()) continue;
        if (!all.empty()) all += separator;
        all += text;
        texts.push_back(std::move(text));
    }
    return all;
}

// `cell`, with a replacement character for each byte beyond ASCII if it is not UTF-8.
std::string report_text(std::string_view cell) {
    if (is_utf8(cell)) return std::string(cell);
    std::string clean;
    for (const char c : cell) {
        if (static_cast<unsigned char>(c) < 0x80) {
            clean += c;
        } else {
            clean += "\xEF\xBF\xBD";
        }
    }
    return clean;
}

}  // namespace

bool is_report_header(const std::vector<std::string>& columns) {
    return std::ranges::all_of(kReportColumns, [&](std::string_view name) {
        return std::ranges::find(columns, name) != columns.end();
    });
}

void ErrorReport::fail() {
    has_failed_ = true;
    throw UsageError("the error report " + path_ +
                     " cannot be written: " + std::generic_category().message(errno));
}

void ErrorReport::begin(const std::vector<std::string>& columns, char separator) {
    columns_ = columns;
    separator_ = separator;
    rows_ = 0;
    is_kept_.clear();
    // An address or a name that happens to be called "line" stays: a report has all five columns.
    const bool is_report = is_report_header(columns);
    for (const std::string& name : columns)
        is_kept_.push_back(!is_report || !is_report_column(name));
    if (!file_) return;
    if (std::fflush(file_.get()) != 0 || ftruncate(fileno(file_.get()), 0) != 0) fail();
    std::rewind(file_.get());
}

void ErrorReport::open() {
    if (!file_) {  // members, so only for the one who imports them
        const int descriptor =
            ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (descriptor < 0) fail();
        file_.reset(fdopen(descriptor, "wb"));
    }
    if (!file_) fail();
    std::string line(kByteOrderMark);  // Excel then reads UTF-8
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (!is_kept_[i]) continue;
        append_csv_cell(line, columns_[i], CsvCells::Guarded, separator_);
        line += separator_;
    }
    for (const std::string_view name : kReportColumns) line.append(name) += separator_;
    line.back() = '\r';
    write(line + "\n");
}

void ErrorReport::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void ErrorReport::add(const ReportedRow& row) {
    if (rows_++ == 0) open();
    std::string line;
    const auto append = [&](std::string_view cell) {
        append_csv_cell(line, cell, CsvCells::Guarded, separator_);
        line += separator_;
    };
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool has_cell = i < row.cells.size();
        if (is_kept_[i]) append(report_text(has_cell ? cell_text(row.cells[i]) : ""));
    }
    append(std::to_string(row.number));
    append(std::to_string(row.line));
    append(row.is_rejected ? "rejected" : "value left out");
    append(joined(row.faults, " ", [](const RowFault& fault) { return fault.code; }));
    append(joined(row.faults, ". ", [](const RowFault& fault) { return fault.message(); }));
    // Cells without a column come last, so that an uncorrected row has too many cells again.
    std::size_t end = row.cells.size();
    while (end > columns_.size() && cell_text(row.cells[end - 1]).empty()) --end;
    for (std::size_t i = columns_.size(); i < end; ++i)
        append(report_text(cell_text(row.cells[i])));
    line.back() = '\r';
    write(line + "\n");
}

void ErrorReport::flush() {
    if (file_ && std::fflush(file_.get()) != 0) fail();
}

void ErrorReport::discard() {
    rows_ = 0;
    remove_empty(false);
    file_.reset();
}

void ErrorReport::remove_empty(bool is_clean) const {
    if (rows_ > 0 || (!file_ && !is_clean)) return;
    if (file_) {  // an earlier reading of the imported file had rows
        if (is_regular(file_.get())) std::remove(path_.c_str());
        return;
    }
    std::string header;
    std::ifstream older(path_, std::ios::binary);
    constexpr std::size_t kLongestHeader = std::size_t{1} << 20U;
    if (!std::getline(older, header) || header.size() > kLongestHeader) return;
    const bool is_ours = std::ranges::any_of(std::string_view(",;\t|"), [&](char separator) {
        std::string end;
        for (const std::string_view name : kReportColumns) end.append(name) += separator;
        end.back() = '\r';
        return header.ends_with(end);
    });
    // The report of version 0.1.0 before it had the file's own columns.
    const bool is_former = header.ends_with("attributes,row_number,error_code,error_message\r");
    if (is_ours || is_former) std::remove(path_.c_str());
}

}  // namespace muster::client
