// The CSV file of all rows that were not imported: those rejected here, then the server's report,
// which has the same columns (docs/api/imports.md "Imports"). It can be corrected and imported
// again.
#pragma once

#include "rules/members/fields.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace muster::client {

class ErrorReport {
  public:
    // The file is opened at the first row; until then an older file is unchanged.
    explicit ErrorReport(std::string path) : path_(std::move(path)) {}

    // Adds a row that was rejected here. Throws UsageError if the file cannot be written. Not for
    // two threads at once, and not after begin_server_rows().
    void add(std::uint32_t row_number, const rules::MemberFields& fields, std::string_view code,
             std::string_view message);

    // Removes the server's rows. append_server() then takes a whole report and leaves out its
    // header line. So an interrupted download can be repeated.
    void begin_server_rows();
    void append_server(std::string_view piece);

    // Writes buffered rows to the file. Throws UsageError.
    void flush();

    // Deletes the report of an earlier run, if this run wrote none. Leaves a file without our
    // header.
    void remove_older() const;

    bool exists() const { return file_ != nullptr; }
    const std::string& path() const { return path_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
    };
    static std::string header();
    void open();
    void write(std::string_view text);
    [[noreturn]] void fail() const;

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    long own_bytes_ = 0;
    bool in_header_ = false;
};

}  // namespace muster::client
