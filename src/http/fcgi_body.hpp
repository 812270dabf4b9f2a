// The body of a FastCGI request, read from its connection (FastCGI specification 5.3).
#pragma once

#include "http/patience.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace muster::http {

class RequestBody {
  public:
    // `begun`: the bytes that arrived behind the request's head. The socket stays the caller's.
    RequestBody(int fd, std::uint16_t request_id, std::string_view begun);

    // Reads the next bytes of the body, at most `to.size()`. Returns their number; 0 at the end.
    // Throws Aborted if the peer closes, is too slow, or sends anything but STDIN records of the
    // request. After a pause of the peer, the next call may succeed.
    std::size_t read(std::span<char> to, const PeerClock& clock);
    // Reads to the end, and discards what it reads. Throws like read().
    void skip(const PeerClock& clock);
    // Frees the memory for bytes that have not arrived, while the request waits.
    void shrink();

  private:
    std::string_view arrived() const { return std::string_view(buffer_).substr(at_, end_ - at_); }
    std::size_t consume(std::size_t bytes);
    bool find_content(const PeerClock& clock);
    void begin_record(const PeerClock& clock);
    void receive(const PeerClock& clock);

    int fd_;
    std::uint16_t request_id_;
    std::string buffer_;  // from at_ to end_: bytes that arrived and are not read
    std::size_t at_ = 0;
    std::size_t end_;
    std::size_t content_ = 0;  // bytes of the current record that are not read
    std::size_t padding_ = 0;  // behind them
    bool has_ended_ = false;
};

}  // namespace muster::http
