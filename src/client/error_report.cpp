#include "client/error_report.hpp"

#include "base/csv.hpp"
#include "client/options.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/fields.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace muster::client {

void ErrorReport::fail() const {
    throw UsageError("the error report " + path_ +
                     " cannot be written: " + std::generic_category().message(errno));
}

std::string ErrorReport::header() {
    std::string text;
    for (const rules::CoreFieldEntry& entry : rules::kCoreFields)
        text.append(entry.name).append(",");
    return text + "attributes,row_number,error_code,error_message\r\n";
}

void ErrorReport::remove_older() const {
    if (file_) return;
    const std::string expected = header();
    std::string start(expected.size(), '\0');
    std::ifstream older(path_, std::ios::binary);
    if (!older.read(start.data(), static_cast<std::streamsize>(start.size()))) return;
    if (start == expected) std::remove(path_.c_str());
}

void ErrorReport::open() {
    if (file_) return;
    file_.reset(std::fopen(path_.c_str(), "wb"));
    if (!file_) fail();
    write(header());
    own_bytes_ = std::ftell(file_.get());
}

void ErrorReport::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void ErrorReport::add(std::uint32_t row_number, const rules::MemberFields& fields,
                      std::string_view code, std::string_view message) {
    open();
    std::string line;
    for (const rules::CoreFieldEntry& entry : rules::kCoreFields) {
        append_csv_cell(line, fields.*(entry.sent), CsvCells::Guarded);
        line += ',';
    }
    append_csv_cell(line, fields.attributes, CsvCells::Guarded);
    line.append(",").append(std::to_string(row_number)).append(",");
    append_csv_cell(line, code, CsvCells::Guarded);
    line += ',';
    append_csv_cell(line, message, CsvCells::Guarded);
    write(line + "\r\n");
    own_bytes_ = std::ftell(file_.get());
}

void ErrorReport::begin_server_rows() {
    open();
    flush();
    if (ftruncate(fileno(file_.get()), own_bytes_) != 0) fail();
    if (std::fseek(file_.get(), own_bytes_, SEEK_SET) != 0) fail();
    in_header_ = true;
}

void ErrorReport::append_server(std::string_view piece) {
    if (in_header_) {
        const auto end = piece.find('\n');
        if (end == std::string_view::npos) return;
        piece.remove_prefix(end + 1);
        in_header_ = false;
    }
    write(piece);
}

void ErrorReport::flush() {
    if (file_ && std::fflush(file_.get()) != 0) fail();
}

}  // namespace muster::client
