// http/fcgi_io.hpp: what happens to connections whose requests are not complete.
#include "http/fcgi_io.hpp"

#include "print.hpp"
#include "unit/http/served.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace muster::http;
using namespace std::chrono_literals;
using muster::test::fcgi_begin;
using muster::test::fcgi_record;
using muster::test::head;
using muster::test::Peer;
using muster::test::Served;
using muster::test::text_of_size;

namespace {

constexpr std::size_t kBodyOfPost = 100'000;

std::string head_of_post() {
    const std::string length = std::string{14, 6} + "CONTENT_LENGTH100000";
    return fcgi_begin() + fcgi_record(4, length) + fcgi_record(4, "");
}

// Does something ten times a second, until it is destroyed or the server has closed.
class Repeated {
  public:
    explicit Repeated(std::function<bool()> step)
        : thread_([step = std::move(step)](const std::stop_token& stop) {
              std::mutex mutex;
              std::condition_variable_any ended;
              std::unique_lock lock(mutex);
              while (step() && !stop.stop_requested()) {
                  ended.wait_for(lock, stop, 100ms, [] { return false; });
              }
          }) {}

  private:
    std::jthread thread_;
};

constexpr std::size_t kMostTaken = 64;
constexpr std::size_t kMoreThanASocketHolds = std::size_t{1} << 20U;
constexpr std::size_t kPartOfASocket = std::size_t{64} << 10U;

const Handler answer_long = [](std::span<const Request> requests, const Answer& answer) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        Reply reply;
        reply.body.assign(kMoreThanASocketHolds, 'x');
        answer(i, std::move(reply));
    }
    return std::vector<Deferral>{};
};

// The content of the records of a whole reply. The records have no padding.
std::string content_of(std::string_view records) {
    constexpr std::size_t kHeader = 8;
    const std::string end = fcgi_record(6, "") + fcgi_record(3, std::string(8, '\0'));
    BOOST_TEST_REQUIRE(records.ends_with(end));
    records.remove_suffix(end.size());
    std::string content;
    while (!records.empty()) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(records[at]); };
        const std::size_t size = std::size_t{byte(4)} << 8U | byte(5);
        BOOST_TEST_REQUIRE(byte(1) == 6);
        BOOST_TEST_REQUIRE(records.size() >= kHeader + size);
        content += records.substr(kHeader, size);
        records.remove_prefix(kHeader + size);
    }
    return content;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fcgi_server, Served)

BOOST_AUTO_TEST_CASE(an_incomplete_request_does_not_delay_a_complete_one) {
    const Peer half(path);
    half.send(head().substr(0, 20));
    const Peer whole(path);
    whole.send(head());
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 1U);
    BOOST_TEST(whole.received().find("Status: ") != std::string::npos);
    BOOST_TEST(server.has_pending());
    half.send(head().substr(20));
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 1U);
    BOOST_TEST(half.received().find("Status: ") != std::string::npos);
    BOOST_TEST(!server.has_pending());
}

BOOST_AUTO_TEST_CASE(a_call_waits_for_the_heads_of_a_bounded_number_of_peers) {
    std::vector<std::unique_ptr<Peer>> silent;
    for (int i = 0; i < 64; ++i) silent.push_back(std::make_unique<Peer>(path));
    const Peer whole(path);
    whole.send(head());
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 0U);
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 1U);
    BOOST_TEST(whole.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait_although_a_request_waits) {
    struct sigaction noted {};
    noted.sa_handler = [](int) {};
    struct sigaction before {};
    sigaction(SIGUSR1, &noted, &before);
    sigset_t usual;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &usual);
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(server.wait(usual));
    raise(SIGUSR1);
    BOOST_TEST(!server.wait(usual));
    BOOST_TEST(server.wait(usual));  // the signal was delivered
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
    sigaction(SIGUSR1, &before, nullptr);
}

BOOST_AUTO_TEST_CASE(an_accepted_request_is_answered_before_the_worker_ends) {
    const Peer late(path);
    late.send(head().substr(0, 20));
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 0U);
    late.send(head().substr(20));
    const Peer next(path);
    next.send(head());
    server.finish(kMostTaken, answer_all);
    BOOST_TEST(late.received().find("Status: ") != std::string::npos);
    // The next one is left to another worker.
    FcgiServer successor(listener);
    BOOST_TEST(successor.serve(kMostTaken, answer_all) == 1U);
    BOOST_TEST(next.received().find("Status: ") != std::string::npos);
}

// The server sends records of up to 65,528 bytes, in pieces of up to 64 KiB.
BOOST_AUTO_TEST_CASE(a_reply_of_any_size_arrives_whole) {
    for (const std::size_t size :
         {0UL, 1UL, 65'400UL, 65'528UL, 65'600UL, 131'072UL, 7'000'001UL}) {
        const std::string body = text_of_size(size);
        const Peer peer(path);
        peer.send(head());
        std::string records;
        std::jthread reader([&] { records = peer.received(); });
        server.serve(1, [&](std::span<const Request> /*requests*/, const Answer& answer) {
            Reply reply;
            reply.body = body;
            answer(0, std::move(reply));
            return std::vector<Deferral>{};
        });
        reader.join();
        const std::string reply = content_of(records);
        BOOST_TEST(reply.size() > size, size);
        BOOST_TEST((reply.substr(reply.size() - size) == body), size);
        BOOST_TEST(records.size() <= reply.size() + 8 * (size / 65'528 + 3) + 24, size);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_ends_when_its_reader_has_gone) {
    auto peer = std::make_unique<Peer>(path);
    peer->send(head());
    int pieces = 0;
    const std::string piece(100'000, 'x');
    const Handler streams = [&](std::span<const Request>, const Answer& answer) {
        Reply reply;
        reply.stream = [&](const Sink& put) {
            peer.reset();
            while (pieces < 1'000 && put(piece)) ++pieces;
        };
        answer(0, reply);
        return std::vector<Deferral>{};
    };
    BOOST_TEST(server.serve(kMostTaken, streams) == 1U);
    BOOST_TEST(pieces < 10);
}

BOOST_AUTO_TEST_CASE(peers_that_accept_no_reply_hold_a_batch_for_one_pause) {
    FcgiServer impatient(listener, {}, {2s, 20s});
    std::vector<std::unique_ptr<Peer>> silent;
    for (int i = 0; i < 10; ++i) silent.push_back(std::make_unique<Peer>(path));
    for (const auto& peer : silent) peer->send(head());
    const auto began = std::chrono::steady_clock::now();
    BOOST_TEST(impatient.serve(kMostTaken, answer_long) == silent.size());
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    BOOST_TEST(waited.count() > 1.9);
    BOOST_TEST(waited.count() < 10);  // ten pauses would take 20 s
    for (const auto& peer : silent) BOOST_TEST(peer->received().size() < kMoreThanASocketHolds);
    const Peer next(path);
    next.send(head());
    BOOST_TEST(impatient.serve(kMostTaken, answer_all) == 1U);
    BOOST_TEST(next.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_batch_that_waited_for_a_pause_is_granted_none) {
    constexpr std::size_t kOfEach = 3;
    FcgiServer impatient(listener, {}, {1s, 2s});
    std::vector<std::unique_ptr<Peer>> silent;
    for (std::size_t i = 0; i < 3 * kOfEach; ++i) {
        silent.push_back(std::make_unique<Peer>(path));
        silent.back()->send(head());
    }
    const auto seconds_of_batch = [&] {
        const auto began = std::chrono::steady_clock::now();
        BOOST_TEST(impatient.serve(kOfEach, answer_long) == kOfEach);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    BOOST_TEST(seconds_of_batch() > 0.9);
    BOOST_TEST(seconds_of_batch() < 0.9);
    BOOST_TEST(seconds_of_batch() > 0.9);  // the batch before this one had no whole pause
}

BOOST_AUTO_TEST_CASE(a_request_that_became_complete_during_a_pause_is_granted_none) {
    FcgiServer impatient(listener, {}, {1s, 2s});
    const Peer silent(path);
    silent.send(head());
    const Peer half(path);
    half.send(head().substr(0, 20));
    const auto seconds_of_batch = [&] {
        const auto began = std::chrono::steady_clock::now();
        BOOST_TEST(impatient.serve(kMostTaken, answer_long) == 1U);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    BOOST_TEST(seconds_of_batch() > 0.9);
    half.send(head().substr(20));
    BOOST_TEST(seconds_of_batch() < 0.9);
}

BOOST_AUTO_TEST_CASE(a_deferred_request_is_granted_no_pause_after_another_one) {
    FcgiServer impatient(listener, {}, {1s, 2s});
    bool defers = true;
    const Handler answer_second = [&](std::span<const Request> requests, const Answer& answer) {
        if (!std::exchange(defers, false)) return answer_long(requests, answer);
        answer_long(requests.subspan(1), [&](std::size_t i, std::optional<Reply> reply) {
            answer(i + 1, std::move(reply));
        });
        return std::vector<Deferral>{{.index = 0}};
    };
    const Peer first(path);
    first.send(head());
    const Peer second(path);
    second.send(head());
    const auto seconds_of_batch = [&](std::size_t requests) {
        const auto began = std::chrono::steady_clock::now();
        BOOST_TEST(impatient.serve(kMostTaken, answer_second) == requests);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    BOOST_TEST(seconds_of_batch(2) > 0.9);
    BOOST_TEST(seconds_of_batch(1) < 0.9);
}

BOOST_AUTO_TEST_CASE(peers_that_send_half_a_body_hold_a_batch_for_one_pause) {
    FcgiServer impatient(listener, {}, {1s, 2s});
    const std::string length = std::string{14, 2} + "CONTENT_LENGTH99";
    const std::string half =
        fcgi_begin() + fcgi_record(4, length) + fcgi_record(4, "") + fcgi_record(5, "{");
    std::vector<std::unique_ptr<Peer>> peers;
    for (int i = 0; i < 10; ++i) peers.push_back(std::make_unique<Peer>(path));
    for (const auto& peer : peers) peer->send(half);
    int aborted = 0;
    const Handler read_bodies = [&](std::span<const Request> requests, const Answer& answer) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            try {
                requests[i].read_body(1'000);
            } catch (const Aborted&) {
                ++aborted;
            }
            answer(i, std::nullopt);
        }
        return std::vector<Deferral>{};
    };
    const auto began = std::chrono::steady_clock::now();
    BOOST_TEST(impatient.serve(kMostTaken, read_bodies) == peers.size());
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    BOOST_TEST(aborted == 10);
    BOOST_TEST(waited.count() < 4);
}

// How a peer begins its body, and what it sends then.
struct Trickle {
    std::string first;
    std::string next;
};

// The seconds for which the peer holds its worker. The handler reads the body, or refuses the
// request.
double seconds_held_by(const Served& served, const Trickle& trickle, bool reads) {
    FcgiServer impatient(served.listener, {}, {5s, 1s});
    const Peer peer(served.path);
    peer.send(head_of_post() + trickle.first);
    const Handler read_or_refuse = [&](std::span<const Request> requests, const Answer& answer) {
        if (reads) BOOST_CHECK_THROW(requests[0].read_body(kBodyOfPost), Aborted);
        answer(0, reads ? std::nullopt : std::optional(Reply{}));
        return std::vector<Deferral>{};
    };
    const auto began = std::chrono::steady_clock::now();
    const Repeated sends([&] { return peer.offer(trickle.next); });
    BOOST_TEST(impatient.serve(kMostTaken, read_or_refuse) == 1U);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

BOOST_AUTO_TEST_CASE(a_peer_that_trickles_its_body_holds_a_worker_for_a_bounded_time) {
    const std::string large_record = fcgi_record(5, std::string(60'000, 'x'));
    const std::vector<Trickle> trickles = {{"", fcgi_record(5, "x")},
                                           {large_record.substr(0, 9), "x"},
                                           {large_record.substr(0, 3), ""}};
    for (const Trickle& trickle : trickles) {
        for (const bool reads : {true, false}) {
            const double seconds = seconds_held_by(*this, trickle, reads);
            BOOST_TEST(seconds > 0.9, seconds);
            BOOST_TEST(seconds < 3, seconds);
        }
    }
}

BOOST_AUTO_TEST_CASE(peers_that_trickle_their_bodies_hold_a_batch_for_one_time) {
    FcgiServer impatient(listener, {}, {500ms, 1s});
    std::vector<std::unique_ptr<Peer>> peers;
    std::vector<std::unique_ptr<Repeated>> trickles;
    for (int i = 0; i < 10; ++i) {
        peers.push_back(std::make_unique<Peer>(path));
        peers.back()->send(head_of_post());
        trickles.push_back(std::make_unique<Repeated>(
            [&peer = *peers.back()] { return peer.offer(fcgi_record(5, "x")); }));
    }
    const auto began = std::chrono::steady_clock::now();
    BOOST_TEST(impatient.serve(kMostTaken, answer_all) == peers.size());
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    BOOST_TEST(waited.count() < 3);
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_its_reply_slowly_holds_a_worker_for_a_bounded_time) {
    FcgiServer impatient(listener, {}, {5s, 1s});
    const Peer peer(path);
    peer.send(head());
    const auto began = std::chrono::steady_clock::now();
    std::size_t taken = 0;
    {
        const Repeated reads([&] { return peer.take(kPartOfASocket, taken); });
        BOOST_TEST(impatient.serve(kMostTaken, answer_long) == 1U);
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    BOOST_TEST(waited.count() > 0.9);
    BOOST_TEST(waited.count() < 3);
    BOOST_TEST(taken + peer.received().size() < kMoreThanASocketHolds);
}

BOOST_AUTO_TEST_CASE(a_record_that_is_not_of_the_body_ends_it_but_not_the_reply) {
    const Handler read_and_answer = [](std::span<const Request> requests, const Answer& answer) {
        BOOST_CHECK_THROW(requests[0].read_body(kBodyOfPost), Aborted);
        answer(0, Reply{});
        return std::vector<Deferral>{};
    };
    const Peer peer(path);
    peer.send(head_of_post() + fcgi_record(5, "{") +
              fcgi_record(9, "\xff\xff\xff\xff\xff\xff\xff\xff"));
    BOOST_TEST(server.serve(kMostTaken, read_and_answer) == 1U);
    BOOST_TEST(peer.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_not_fastcgi_is_closed) {
    const Peer peer(path);
    peer.send("GET / HTTP/1.1\r\n\r\n");
    BOOST_TEST(server.serve(kMostTaken, answer_all) == 0U);
    BOOST_TEST(peer.received().empty());
    BOOST_TEST(!server.has_pending());
}

BOOST_AUTO_TEST_SUITE_END()
