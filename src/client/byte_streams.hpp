// Streams over the bytes of a file: as they are, decompressed, and converted to UTF-8. Each keeps
// buffers of a fixed size. A stream throws std::runtime_error for data that it cannot read.
#pragma once

#include <atomic>
#include <memory>
#include <streambuf>
#include <string>

namespace muster::client {

// Reads an open file from its beginning, without moving the position that others share.
[[nodiscard]] std::unique_ptr<std::streambuf> file_bytes(int descriptor);
// Decompresses gzip data, also of several members. Throws for damaged and for incomplete data, and
// for more than 1 MiB of it that has no content.
[[nodiscard]] std::unique_ptr<std::streambuf> gunzipped(std::unique_ptr<std::streambuf> source);
// Converts to UTF-8 with iconv(3). A byte that is not in the encoding becomes 0xFF, so that its
// cell is not UTF-8; so does a character that is cut off at the end. Throws UsageError for an
// unknown encoding.
[[nodiscard]] std::unique_ptr<std::streambuf> as_utf8(std::unique_ptr<std::streambuf> source,
                                                      const std::string& encoding);

// Throws Stopped as soon as `stop`, which outlives the stream, is set.
[[nodiscard]] std::unique_ptr<std::streambuf> unless_stopped(std::unique_ptr<std::streambuf> source,
                                                             const std::atomic<bool>& stop);
// For CSV. If the first line ends with LF or CRLF, a CR alone outside quotes becomes a space: it
// does not end a line there. `separator` 0 = a comma, a semicolon or a tab.
[[nodiscard]] std::unique_ptr<std::streambuf> with_one_line_end(
    std::unique_ptr<std::streambuf> source, char separator);

}  // namespace muster::client
