// http/fcgi_body.hpp: a body is read whole from any records, and nothing else is accepted.
#include "http/fcgi_body.hpp"

#include "http/message.hpp"

#include "print.hpp"
#include "unit/http/fcgi_bytes.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace muster::http;
using namespace std::chrono_literals;
using muster::test::fcgi_record;
using muster::test::text_of_size;

namespace {

constexpr Patience kPatience{5s, 10s};
constexpr Patience kImpatience{50ms, 100ms};

struct Connected {
    std::array<int, 2> fds{};
    Connected() { BOOST_TEST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) == 0); }
    ~Connected() {
        close(fds[0]);
        close_peer();
    }
    Connected(const Connected&) = delete;
    Connected& operator=(const Connected&) = delete;

    // Checks nothing: it may be called by another thread.
    void send(std::string_view bytes, int flags = 0) const {
        static_cast<void>(::send(fds[1], bytes.data(), bytes.size(), flags | MSG_NOSIGNAL));
    }
    void close_peer() {
        if (fds[1] >= 0) close(std::exchange(fds[1], -1));
    }
    RequestBody body(std::string_view begun = "") const { return {fds[0], 1, begun}; }
};

// Reads to the end, in pieces of at most this many bytes.
std::string read_all(RequestBody& body, std::size_t piece, Patience patience = kPatience) {
    const PeerClock clock(patience);
    std::string text;
    std::string bytes(piece, '\0');
    while (const std::size_t count = body.read(bytes, clock)) text.append(bytes, 0, count);
    return text;
}

// The text as records of at most `most` bytes, each with padding.
std::string records_of(const std::string& text, std::size_t most, std::size_t padding) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += most) {
        bytes += fcgi_record(5, text.substr(at, most), padding);
    }
    return bytes + fcgi_record(5, "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fcgi_body)

BOOST_AUTO_TEST_CASE(a_body_arrives_whole_from_records_of_any_size) {
    for (const std::size_t size : {0UL, 1UL, 300UL, 70'000UL, 1'000'000UL}) {
        for (const auto& [most, padding] : std::vector<std::pair<std::size_t, std::size_t>>{
                 {65'535, 255}, {8'000, 0}, {1'001, 7}}) {
            const Connected connected;
            const std::string text = text_of_size(size);
            const std::string bytes = records_of(text, most, padding);
            const std::size_t begun = std::min<std::size_t>(bytes.size(), 1'005);
            const std::jthread sender(
                [&] { connected.send(std::string_view(bytes).substr(begun)); });
            RequestBody body = connected.body(std::string_view(bytes).substr(0, begun));
            BOOST_TEST((read_all(body, 70'001) == text), size);
            std::array<char, 1> more{};
            BOOST_TEST(body.read(more, PeerClock(kPatience)) == 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_body_may_arrive_byte_by_byte) {
    const std::string text = text_of_size(40);
    const std::string bytes = records_of(text, 11, 3);
    const Connected connected;
    const std::jthread sender([&] {
        for (const char byte : bytes) connected.send({&byte, 1});
    });
    RequestBody body = connected.body();
    BOOST_TEST(read_all(body, 7) == text);
}

BOOST_AUTO_TEST_CASE(skipping_ends_at_the_end_of_the_body) {
    const Connected connected;
    RequestBody body = connected.body(records_of(text_of_size(50'000), 999, 1) + "next");
    std::array<char, 10> first{};
    BOOST_TEST(body.read(first, PeerClock(kPatience)) == first.size());
    body.skip(PeerClock(kPatience));
    BOOST_TEST(body.read(first, PeerClock(kPatience)) == 0U);
}

BOOST_AUTO_TEST_CASE(only_stdin_records_of_the_request_are_read) {
    const std::string end = fcgi_record(5, "");
    std::string of_another_request = end;
    of_another_request[3] = 2;
    std::string of_another_version = end;
    of_another_version[0] = 2;
    std::string get_values = fcgi_record(9, std::string("\x0f\0FCGI_MPXS_CONNS", 17));
    get_values[3] = 0;
    for (const std::string& record :
         {of_another_request, of_another_version, get_values, fcgi_record(2, ""),
          fcgi_record(8, ""), fcgi_record(99, "")}) {
        const Connected connected;
        RequestBody body = connected.body(fcgi_record(5, "{") + record + end);
        BOOST_CHECK_THROW(read_all(body, 100), Aborted);
        BOOST_CHECK_THROW(body.skip(PeerClock(kPatience)), Aborted);
    }
}

BOOST_AUTO_TEST_CASE(a_peer_that_closes_or_pauses_in_a_body_is_left) {
    for (const std::string& begun :
         {std::string(), fcgi_record(5, "{"), fcgi_record(5, "{").substr(0, 3),
          fcgi_record(5, "{}", 4).substr(0, 9)}) {
        const Connected pausing;
        RequestBody paused = pausing.body(begun);
        BOOST_CHECK_THROW(read_all(paused, 100, kImpatience), Aborted);
        Connected closing;
        RequestBody closed = closing.body(begun);
        closing.close_peer();
        BOOST_CHECK_THROW(read_all(closed, 100), Aborted);
    }
}

// It always finds bytes, so it never waits.
BOOST_AUTO_TEST_CASE(a_peer_that_never_ends_its_body_is_left_when_the_time_is_over) {
    const Connected connected;
    const std::string piece =
        fcgi_record(5, std::string(8'000, 'x'));  // is sent whole or not at all
    std::jthread sender([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) connected.send(piece, MSG_DONTWAIT);
    });
    RequestBody body = connected.body();
    constexpr Patience kTotal{5s, 100ms};  // a busy machine may pause the sender
    const auto began = std::chrono::steady_clock::now();
    BOOST_CHECK_THROW(body.skip(PeerClock(kTotal)), Aborted);
    const auto waited = std::chrono::steady_clock::now() - began;
    BOOST_TEST((waited >= kTotal.total));
    BOOST_TEST((waited < 5s));
}

BOOST_AUTO_TEST_CASE(a_shrunken_body_keeps_the_bytes_that_arrived) {
    const Connected connected;
    const std::string text = text_of_size(100);
    RequestBody body = connected.body(records_of(text, 30, 5));
    std::array<char, 40> first{};
    const PeerClock clock(kPatience);
    const std::size_t count = body.read(first, clock);
    body.shrink();
    BOOST_TEST(std::string(first.data(), count) + read_all(body, 7) == text);
}

BOOST_AUTO_TEST_SUITE_END()
