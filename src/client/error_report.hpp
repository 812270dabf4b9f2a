// The CSV file of all rows that were not imported: those rejected here, then the server's report,
// which has the same columns (specification 2.5). It can be corrected and imported again.
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
    // Nothing is written, nor an older file touched, before the first row.
    explicit ErrorReport(std::string path) : path_(std::move(path)) {}

    // One row of ours. Throws UsageError when the file cannot be written. Not for two threads at
    // once, and not after begin_server_rows().
    void add(std::uint32_t row_number, const rules::MemberFields& fields, std::string_view code,
             std::string_view message);

    // Drops any server rows that stand already; what append_server() then takes is a whole report,
    // whose header line is left out. So a download that broke off, or an older report, is simply
    // begun again.
    void begin_server_rows();
    void append_server(std::string_view piece);

    // To the disk. Throws UsageError.
    void flush();

    // Deletes the report of an earlier run, which a file without rejected rows has outdated. Only a
    // file with our header; only where this run wrote none.
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
