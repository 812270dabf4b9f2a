#include "http/fcgi_body.hpp"

#include "http/fcgi_records.hpp"
#include "http/message.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace muster::http {
namespace {

// A larger buffer needs fewer system calls, but more memory for each body that arrives slowly.
constexpr std::size_t kBuffer = std::size_t{64} << 10U;

}  // namespace

RequestBody::RequestBody(int fd, std::uint16_t request_id, std::string_view begun)
    : fd_(fd), request_id_(request_id), buffer_(begun), end_(begun.size()) {}

std::size_t RequestBody::read(std::span<char> to, const PeerClock& clock) {
    if (!find_content(clock)) return 0;
    return consume(arrived().copy(to.data(), std::min(to.size(), content_)));
}

void RequestBody::skip(const PeerClock& clock) {
    while (find_content(clock)) consume(std::min(content_, arrived().size()));
}

std::size_t RequestBody::consume(std::size_t bytes) {
    at_ += bytes;
    content_ -= bytes;
    return bytes;
}

void RequestBody::shrink() {
    buffer_ = std::string(arrived());
    at_ = 0;
    end_ = buffer_.size();
}

// False at the end of the body. Otherwise bytes of it have arrived.
bool RequestBody::find_content(const PeerClock& clock) {
    if (content_ == 0 && !has_ended_) begin_record(clock);
    if (has_ended_) return false;
    while (arrived().empty()) receive(clock);
    return true;
}

void RequestBody::begin_record(const PeerClock& clock) {
    while (arrived().size() < padding_ + kRecordHeaderBytes) receive(clock);
    const RecordHeader header = header_of(arrived().substr(padding_));
    if (!header.is_of(RecordType::Stdin, request_id_)) throw Aborted{};
    at_ += padding_ + kRecordHeaderBytes;
    content_ = header.content;
    padding_ = header.padding;
    has_ended_ = content_ == 0;
}

// Adds bytes to the buffer, which has room: at most a header and its padding are in it.
void RequestBody::receive(const PeerClock& clock) {
    std::string::traits_type::move(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    if (buffer_.size() < kBuffer) buffer_.resize(kBuffer);
    while (!clock.is_over()) {
        const ssize_t got = recv(fd_, buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
        if (got > 0) {
            end_ += static_cast<std::size_t>(got);
            return;
        }
        if (got == 0 || errno != EAGAIN || !clock.await(fd_, POLLIN)) break;
    }
    throw Aborted{};
}

}  // namespace muster::http
