#include "http/fcgi_reply.hpp"

#include "http/fcgi_records.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster::http {
namespace {

// Sends the records of a reply, in pieces of about 64 KiB. A copy of a whole large reply would take
// new memory.
class ReplyWriter {
  public:
    ReplyWriter(int fd, std::uint16_t request_id, Patience patience)
        : fd_(fd), clock_(patience), records_(request_id) {}

    // False if the peer has gone. Throws if it does not read in time.
    bool put(std::string_view text) {
        while (is_open_ && !text.empty()) {
            const std::string_view piece = text.substr(0, room());
            records_.append(piece);
            text.remove_prefix(piece.size());
            if (room() == 0) flush();
        }
        return is_open_;
    }
    bool end() {
        records_.end();
        return flush();
    }

  private:
    // The content that fits in the piece, as one record.
    std::size_t room() {
        constexpr std::size_t kPiece = std::size_t{64} << 10U;
        const std::size_t used = records_.bytes().size() + kRecordHeaderBytes;
        return used < kPiece ? kPiece - used : 0;
    }

    // A blocking send would wait for a pause as often as the peer reads a part.
    bool flush() {
        std::string_view rest = records_.bytes();
        while (is_open_ && !rest.empty()) {
            const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0) {
                rest.remove_prefix(static_cast<std::size_t>(sent));
            } else if (sent < 0 && errno == EAGAIN) {
                if (!clock_.await(fd_, POLLOUT)) {
                    throw std::runtime_error("reply not accepted in time");
                }
            } else if (sent == 0 || errno != EINTR) {
                is_open_ = false;
            }
        }
        records_.bytes().clear();
        return is_open_;
    }

    int fd_;
    bool is_open_ = true;
    PeerClock clock_;
    ReplyRecords records_;
};

std::string head_of(const Reply& reply, bool has_body) {
    std::string head = "Status: " + std::to_string(reply.status) + "\r\n";
    if (has_body) head += "Content-Type: " + reply.content_type + "\r\n";
    for (const auto& [name, value] : reply.headers) {
        head.append(name).append(": ").append(value).append("\r\n");
    }
    if (has_body) {
        const std::size_t length = reply.stream ? reply.stream_length : reply.body.size();
        head += "Content-Length: " + std::to_string(length) + "\r\n";
    }
    return head + "\r\n";
}

}  // namespace

void send_reply(int fd, std::uint16_t request_id, const Request& request, const Reply& reply,
                Patience patience) {
    ReplyWriter to(fd, request_id, patience);
    const bool has_body = reply.status != 204 && reply.status != 304;
    const std::string head = head_of(reply, has_body);
    const bool sends_body = has_body && request.method != Method::Head;
    if (sends_body && reply.stream) {
        bool is_sent = to.put(head);
        reply.stream([&](std::string_view piece) { return is_sent = is_sent && to.put(piece); });
    } else {
        to.put(head);
        if (sends_body) to.put(reply.body);
    }
    to.end();
}

}  // namespace muster::http
