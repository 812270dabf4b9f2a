// FastCGI records (FastCGI specification 3.3, 3.4 and 5), as nginx sends and takes them: one
// request per connection, for a responder. All bytes are checked before they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::http {

enum class RecordType : std::uint8_t {
    BeginRequest = 1,
    EndRequest = 3,
    Params = 4,
    Stdin = 5,
    Stdout = 6
};

inline constexpr std::size_t kRecordHeaderBytes = 8;

struct RecordHeader {
    std::uint8_t version = 0;
    std::uint8_t type = 0;
    std::uint16_t request_id = 0;
    std::size_t content = 0;  // bytes
    std::size_t padding = 0;  // bytes behind the content

    [[nodiscard]] bool is_of(RecordType type, std::uint16_t request_id) const;
};

// `bytes` has at least kRecordHeaderBytes.
[[nodiscard]] RecordHeader header_of(std::string_view bytes);

// A head has at most this many bytes. nginx writes all parameters into one record, which has 64 KiB
// at most.
inline constexpr std::size_t kMostHeadBytes = std::size_t{128} << 10U;

enum class HeadState : std::uint8_t {
    Complete,
    Incomplete,  // more bytes are needed
    Invalid      // no further bytes could make it a request
};

// The head of a request: a BEGIN_REQUEST record for a responder, and all its PARAMS records.
struct RequestHead {
    HeadState state = HeadState::Invalid;
    // If it is complete:
    std::uint16_t request_id = 0;
    std::size_t size = 0;    // in bytes; the body follows
    std::string pairs = {};  // of names and values, as sent
};

// Reads the first bytes of a connection. Any bytes may follow a complete head. A head with lengths
// that do not fit, or with a NUL in a name or value, is invalid.
[[nodiscard]] RequestHead read_head(std::string_view bytes);

struct Parameter {
    std::string_view name;
    std::string_view value;
};

// The parameters of a request, in the order in which they were sent.
class Parameters {
  public:
    // `pairs`: of a complete head, which outlives this.
    explicit Parameters(std::string_view pairs);

    // The first value with this name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
    // All values with this name.
    [[nodiscard]] std::vector<std::string_view> find_all(std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> names() const;

  private:
    std::vector<Parameter> parameters_;
};

// Collects the records of a reply. The caller sends and clears `bytes()`.
class ReplyRecords {
  public:
    explicit ReplyRecords(std::uint16_t request_id) : request_id_(request_id) {}

    // Appends part of the reply: CGI headers, then the body.
    void append(std::string_view content);
    // Appends the end of the reply.
    void end();
    std::string& bytes() { return bytes_; }

  private:
    void append_header(RecordType type, std::size_t content);

    std::uint16_t request_id_;
    std::string bytes_;
};

}  // namespace muster::http
