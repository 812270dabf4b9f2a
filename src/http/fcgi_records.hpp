// FastCGI records (FastCGI specification 3.3, 3.4 and 5). The head of a request is checked before
// libfcgi reads it: libfcgi waits for missing bytes, and ends the process at absurd lengths.
// Replies are written here: libfcgi sends at most 8 KiB at a time, which wakes nginx for each
// piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::http {

// A head has at most this many bytes. nginx limits all headers to 32 KiB, and sends some values
// more than once.
inline constexpr std::size_t kMostHeadBytes = std::size_t{128} << 10U;

enum class RequestHead : std::uint8_t { Complete, Incomplete, Invalid };

// Checks the first bytes of a connection. Complete: a BEGIN_REQUEST record for a responder and all
// its PARAMS records, with lengths that fit; any bytes may follow. Incomplete: more bytes are
// needed. Invalid: no further bytes could make it a request.
[[nodiscard]] RequestHead check_request_head(std::string_view bytes);

// Whether the bytes, which begin with a complete head, also have the end of the body. libfcgi then
// reads the body without waiting.
[[nodiscard]] bool has_whole_body(std::string_view bytes);

// Collects the records of a reply. The caller sends and clears `bytes()`.
class ReplyRecords {
  public:
    static constexpr std::size_t kHeaderBytes = 8;

    explicit ReplyRecords(std::uint16_t request_id) : request_id_(request_id) {}

    // Appends part of the reply: CGI headers, then the body.
    void append(std::string_view content);
    // Appends the end of the reply.
    void end();
    std::string& bytes() { return bytes_; }

  private:
    void append_header(std::uint8_t type, std::size_t content);

    std::uint16_t request_id_;
    std::string bytes_;
};

}  // namespace muster::http
