// The imported file as UTF-8 text: a path, or standard input, in any encoding, and compressed with
// gzip or not.
#pragma once

#include "base/temporary_file.hpp"
#include "base/time.hpp"

#include <atomic>
#include <cstddef>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>

namespace muster::client {

class InputFile {
  public:
    // "-" and a path that is not a regular file are copied to a temporary file without a name,
    // which only this process can open. `encoding` "" = detected from the whole file.
    //
    // Throws UsageError for a file that cannot be read, that is not text, or that is too large, and
    // for an unknown encoding. The message names the kind of a workbook or archive. Throws Stopped
    // as soon as `stop` is set, which outlives the file.
    InputFile(const std::string& path, std::string encoding, const std::atomic<bool>& stop);
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    // The text from its beginning, after a line such as `sep=;`. Streams are independent of each
    // other; the file must outlive them. They throw Stopped as the constructor does.
    [[nodiscard]] std::unique_ptr<std::streambuf> open() const;

    const std::string& name() const { return name_; }          // "standard input" for "-"
    const std::string& encoding() const { return encoding_; }  // "UTF-8", "windows-1252", ...
    bool is_compressed() const { return is_compressed_; }
    // When the file was last written, or put in its place. nullopt for a pipe and standard input.
    std::optional<Timestamp> changed_at() const { return changed_at_; }
    // The separator of a line such as `sep=;`, or 0.
    char separator() const { return separator_; }
    std::size_t first_line() const { return separator_ == 0 ? 1 : 2; }
    // Whether a CR may stand alone; false is certain.
    bool may_have_lone_returns() const { return may_have_lone_returns_; }
    bool is_stopped() const { return stop_; }

  private:
    void open_path(const std::string& path);
    void spool();
    void release();
    void refuse_other_kinds(std::string_view start) const;
    void refuse_binary(std::string_view start) const;
    void detect_encoding();
    void find_separator();
    [[nodiscard]] std::unique_ptr<std::streambuf> bytes() const;
    [[nodiscard]] std::unique_ptr<std::streambuf> text() const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::string name_;
    const std::atomic<bool>& stop_;
    std::unique_ptr<TemporaryFile> spool_;
    int descriptor_ = -1;  // of the file, or of the spool
    std::string encoding_;
    bool is_compressed_ = false;
    std::optional<Timestamp> changed_at_;
    char separator_ = 0;
    bool may_have_lone_returns_ = false;
    std::size_t skipped_ = 0;  // bytes before the first record
};

}  // namespace muster::client
