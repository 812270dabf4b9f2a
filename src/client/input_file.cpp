#include "client/input_file.hpp"

#include "base/command_line.hpp"
#include "base/text.hpp"
#include "client/byte_streams.hpp"
#include "client/encoding.hpp"
#include "client/stopped.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace muster::client {
namespace {

constexpr std::uint64_t kMostSpooledBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{4} << 30U;  // after decompression
constexpr std::size_t kStartBytes = 4096;
constexpr std::size_t kCopyBytes = std::size_t{64} << 10U;

// A kind of file that is not CSV: how it begins, what it is, what to do.
struct OtherKind {
    std::string_view magic;
    std::string_view inside;  // must occur near the beginning
    std::string_view what;
    std::string_view advice;
};
constexpr std::string_view kSaveAsCsv = "save it as CSV UTF-8 and import that file";
constexpr std::array kOtherKinds = {
    OtherKind{"PK\x03\x04", "opendocument", "an OpenDocument spreadsheet", kSaveAsCsv},
    OtherKind{"PK\x03\x04", "[Content_Types].xml", "an Excel workbook (.xlsx)", kSaveAsCsv},
    OtherKind{"PK\x03\x04", "xl/", "an Excel workbook (.xlsx)", kSaveAsCsv},
    OtherKind{"PK\x03\x04", "_rels/", "an Excel workbook (.xlsx)", kSaveAsCsv},
    OtherKind{"PK\x03\x04", "", "a ZIP archive", "unpack it and import the CSV file inside"},
    OtherKind{"\xD0\xCF\x11\xE0", "", "an Excel workbook (.xls)", kSaveAsCsv},
    OtherKind{"%PDF", "", "a PDF document", "export the list as CSV"},
    OtherKind{"BZh", "", "compressed with bzip2", "decompress it with bunzip2"},
    OtherKind{"\xFD"
              "7zXZ",
              "", "compressed with xz", "decompress it with unxz"},
    OtherKind{"\x28\xB5\x2F\xFD", "", "compressed with zstd", "decompress it with unzstd"},
    OtherKind{"7z\xBC\xAF", "", "a 7-Zip archive", "unpack it and import the CSV file inside"},
    OtherKind{"<!DOCTYPE", "", "an HTML or XML page", "export the list as CSV"},
    OtherKind{"<html", "", "an HTML page", "export the list as CSV"},
    OtherKind{"<?xml", "", "an XML document", "export the list as CSV"},
};

std::string start_of(std::streambuf& bytes, std::size_t count) {
    std::string start(count, '\0');
    start.resize(
        static_cast<std::size_t>(bytes.sgetn(start.data(), static_cast<std::streamsize>(count))));
    return start;
}

Timestamp wall_clock(const timespec& time) {
    constexpr std::int64_t kNanoseconds = 1'000'000;  // in a millisecond
    return Timestamp::of_wall_clock(std::int64_t{1000} * time.tv_sec + time.tv_nsec / kNanoseconds);
}

// Like read(). A pipe may be silent for long, so it waits in slices; -1 after `stop`.
ssize_t read_unless(const std::atomic<bool>& stop, int source, std::vector<char>& to) {
    constexpr int kSliceMilliseconds = 50;
    pollfd waiting{source, POLLIN, 0};
    while (!stop) {
        const int ready = poll(&waiting, 1, kSliceMilliseconds);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t count = read(source, to.data(), to.size());
        if (count >= 0 || (errno != EINTR && errno != EAGAIN)) return count;
    }
    return -1;
}

// `text` without white space and `c` at its beginning; nullopt if it begins with something else.
std::optional<std::string_view> after(std::optional<std::string_view> text, char c) {
    if (!text) return std::nullopt;
    text->remove_prefix(std::min(text->find_first_not_of(" \t\r\n"), text->size()));
    if (!text->starts_with(c)) return std::nullopt;
    return text->substr(1);
}

// An object, or a list of objects. The first column of a CSV file may be called "[Email]".
bool is_json(std::string_view start) {
    if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
    const auto list = after(start, '[');
    const auto object = after(list ? *list : start, '{');
    return after(object, '"') || after(object, '}');
}

// Whether a CR that is not part of CRLF may be in the bytes; one at their end counts.
bool has_lone_return(std::string_view bytes) {
    for (auto at = bytes.find('\r'); at != bytes.npos; at = bytes.find('\r', at + 1)) {
        if (at + 1 == bytes.size() || bytes[at + 1] != '\n') return true;
    }
    return false;
}

// Whether the bytes are lines of UTF-8, and the line of column names has no NUL. Such a file may
// have a NUL in a value, as an export of members may.
bool begins_with_names(std::string_view bytes) {
    const auto names_end = bytes.find_first_of("\r\n");
    const auto last_line_end = bytes.find_last_of("\r\n");
    return names_end != bytes.npos && names_end < bytes.find('\0') &&
           is_utf8(bytes.substr(0, last_line_end));
}

}  // namespace

InputFile::InputFile(const std::string& path, std::string encoding, const std::atomic<bool>& stop)
    : name_(path == "-" ? "standard input" : path), stop_(stop), encoding_(std::move(encoding)) {
    open_path(path);
    try {
        const std::string start = start_of(*file_bytes(descriptor_), kStartBytes);
        refuse_other_kinds(start);
        is_compressed_ = start.starts_with("\x1F\x8B");
        if (is_compressed_) refuse_other_kinds(start_of(*bytes(), kStartBytes));
        detect_encoding();
        find_separator();
    } catch (const UsageError&) {
        release();
        throw;
    } catch (const Stopped&) {
        release();
        throw;
    } catch (const std::exception& error) {
        release();
        fail(std::string("cannot be read: ") + error.what());
    }
}

InputFile::~InputFile() {
    release();
}

void InputFile::release() {
    if (!spool_ && descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
}

void InputFile::fail(const std::string& reason) const {
    throw UsageError(name_ + " " + reason);
}

// Without O_NONBLOCK, it would wait for the writer of a named pipe.
void InputFile::open_path(const std::string& path) {
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    descriptor_ = path == "-" ? dup(STDIN_FILENO) : ::open(path.c_str(), kFlags);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0)
        fail("cannot be read: " + std::generic_category().message(errno));
    if (S_ISDIR(status.st_mode)) {
        close(descriptor_);
        fail("is a folder; name a CSV file");
    }
    // Standard input may be a file that another program has read in part.
    if (S_ISREG(status.st_mode) && path != "-") {
        changed_at_ = std::max(wall_clock(status.st_mtim), wall_clock(status.st_ctim));
    } else {
        spool();
    }
}

void InputFile::spool() {
    spool_ = std::make_unique<TemporaryFile>();
    const int source = std::exchange(descriptor_, spool_->descriptor());
    std::vector<char> bytes(kCopyBytes);
    std::uint64_t total = 0;
    ssize_t count = 0;
    do {
        count = read_unless(stop_, source, bytes);
        if (count > 0) spool_->write({bytes.data(), static_cast<std::size_t>(count)});
        total += static_cast<std::uint64_t>(std::max<ssize_t>(count, 0));
    } while (count > 0 && total <= kMostSpooledBytes);
    const int error = errno;
    close(source);
    if (stop_) throw Stopped();
    if (count < 0) fail("cannot be read: " + std::generic_category().message(error));
    if (total > kMostSpooledBytes) fail("has more than 1 GiB; split it");
}

void InputFile::refuse_other_kinds(std::string_view start) const {
    for (const OtherKind& kind : kOtherKinds) {
        if (!start.starts_with(kind.magic) || start.find(kind.inside) == start.npos) continue;
        fail("is " + std::string(kind.what) + ", not CSV; " + std::string(kind.advice));
    }
    if (is_json(start)) fail("is a JSON document, not CSV; convert it to CSV");
}

// UTF-16 has zeros too.
void InputFile::refuse_binary(std::string_view start) const {
    constexpr std::string_view kLittleEndian("\xFF\xFE\0\0", 4);
    constexpr std::string_view kBigEndian("\0\0\xFE\xFF", 4);
    if (start.starts_with(kLittleEndian) || start.starts_with(kBigEndian))
        fail("is UTF-32, an encoding that is not supported; convert it to UTF-8");
    const bool has_zero = utf16_name(start).empty() && start.find('\0') != start.npos;
    if (has_zero && !begins_with_names(start)) fail("is not a text file");
}

std::unique_ptr<std::streambuf> InputFile::bytes() const {
    std::unique_ptr<std::streambuf> bytes = file_bytes(descriptor_);
    if (is_compressed_) bytes = gunzipped(std::move(bytes));
    return unless_stopped(std::move(bytes), stop_);
}

std::unique_ptr<std::streambuf> InputFile::text() const {
    if (encoding_ == "UTF-8") return bytes();
    return as_utf8(bytes(), encoding_);
}

// Reads the whole file, so that the size is known to be bounded.
void InputFile::detect_encoding() {
    const std::unique_ptr<std::streambuf> stream = bytes();
    EncodingDetector detector;
    std::string part = start_of(*stream, kCopyBytes);
    if (part.starts_with(kByteOrderMark)) encoding_ = "UTF-8";  // such as a report
    const std::string utf16 = utf16_name(part);
    if (encoding_.empty()) refuse_binary(part);
    for (std::uint64_t total = 0; !part.empty(); part = start_of(*stream, kCopyBytes)) {
        total += part.size();
        if (total > kMostTextBytes) fail("has more than 4 GiB of text; split it");
        detector.add(part);
        may_have_lone_returns_ = may_have_lone_returns_ || has_lone_return(part);
    }
    if (encoding_.empty()) encoding_ = utf16.empty() ? detector.name() : utf16;
    if (equal_ignoring_case(encoding_, "utf8") || equal_ignoring_case(encoding_, "utf-8"))
        encoding_ = "UTF-8";
    static_cast<void>(text());  // throws for an unknown encoding
}

void InputFile::find_separator() {
    std::string_view start;
    const std::string bytes = start_of(*text(), 16);
    start = bytes;
    if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
    if (start.starts_with('"')) start.remove_prefix(1);
    if (start.size() < 6 || !equal_ignoring_case(start.substr(0, 4), "sep=")) return;
    const char separator = start[4];
    start.remove_prefix(5);
    if (start.starts_with('"')) start.remove_prefix(1);
    const std::size_t line_end = start.starts_with("\r\n") ? 2 : 1;
    if (!start.starts_with('\r') && !start.starts_with('\n')) return;
    separator_ = separator;
    skipped_ = bytes.size() - start.size() + line_end;
}

std::unique_ptr<std::streambuf> InputFile::open() const {
    std::unique_ptr<std::streambuf> stream = text();
    static_cast<void>(start_of(*stream, skipped_));
    return stream;
}

}  // namespace muster::client
