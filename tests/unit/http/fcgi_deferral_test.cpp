// http/fcgi_io.hpp: requests that a handler leaves to a later batch.
#include "http/fcgi_io.hpp"

#include "print.hpp"
#include "unit/http/served.hpp"

#include <poll.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace muster::http;
using namespace std::chrono_literals;
using muster::test::head;
using muster::test::Peer;
using muster::test::Served;

namespace {

// Defers the first request once, and answers it the next time.
Handler defer_once(Deferral deferral) {
    return
        [deferral = std::move(deferral)](std::span<const Request> requests, const Answer& answer) {
            if (!requests[0].deferral) return std::vector<Deferral>{deferral};
            answer(0, Reply{});
            return std::vector<Deferral>{};
        };
}

std::chrono::steady_clock::time_point in_an_hour() {
    return std::chrono::steady_clock::now() + 1h;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fcgi_deferral, Served)

BOOST_AUTO_TEST_CASE(a_deferred_request_waits_for_its_share_while_others_are_answered) {
    bool has_room = false;
    FcgiServer sharing(listener,
                       [&](const std::string& share) { return share != "a" || has_room; });
    const Handler handler = defer_once({.share = "a"});
    const Peer first(path);
    first.send(head());
    BOOST_TEST(sharing.serve(1, handler) == 1U);
    const Peer second(path);
    second.send(head());
    BOOST_TEST(sharing.serve(1, answer_all) == 1U);
    BOOST_TEST(second.received().find("Status: ") != std::string::npos);
    BOOST_TEST(sharing.serve(1, answer_all) == 0U);
    BOOST_TEST(!sharing.has_pending());
    has_room = true;
    BOOST_TEST(sharing.has_pending());  // no other worker can answer it
    BOOST_TEST(sharing.serve(1, handler) == 1U);
    BOOST_TEST(first.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(deferred_requests_leave_half_of_the_places_to_new_ones) {
    std::vector<std::unique_ptr<Peer>> peers;
    const auto send_two = [&] {
        for (int i = 0; i < 2; ++i) peers.emplace_back(std::make_unique<Peer>(path))->send(head());
    };
    std::vector<std::size_t> again;
    const Handler defer_all = [&](std::span<const Request> requests, const Answer&) {
        std::vector<Deferral> deferred;
        std::size_t count = 0;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (requests[i].deferral) ++count;
            deferred.push_back({.index = i, .share = ""});
        }
        again.push_back(count);
        return deferred;
    };
    send_two();
    BOOST_TEST(server.serve(2, defer_all) == 2U);
    send_two();
    BOOST_TEST(server.serve(2, defer_all) == 2U);
    BOOST_TEST((again == std::vector<std::size_t>{0, 1}));
    server.finish(64, answer_all);
}

BOOST_AUTO_TEST_CASE(a_request_that_waits_again_goes_before_those_that_came_later) {
    std::vector<std::unique_ptr<Peer>> peers;
    std::vector<int> times;
    const Handler defer_all = [&](std::span<const Request> requests, const Answer&) {
        times.push_back(requests[0].deferral ? requests[0].deferral->times : 0);
        return std::vector<Deferral>{{.index = 0, .share = "a"}};
    };
    bool has_room = false;
    FcgiServer sharing(listener, [&](const std::string&) { return has_room; });
    for (int i = 0; i < 3; ++i) {
        peers.emplace_back(std::make_unique<Peer>(path))->send(head());
        BOOST_TEST(sharing.serve(1, defer_all) == 1U);
    }
    has_room = true;
    for (int i = 0; i < 3; ++i) BOOST_TEST(sharing.serve(1, defer_all) == 1U);
    BOOST_TEST((times == std::vector<int>{0, 0, 0, 1, 2, 3}));
    sharing.finish(1, answer_all);
}

BOOST_AUTO_TEST_CASE(a_deferred_request_keeps_the_body_that_was_read) {
    std::string body;
    const Handler handler = [&](std::span<const Request> requests, const Answer& answer) {
        if (!requests[0].deferral) {
            return std::vector<Deferral>{{.index = 0, .share = "", .body = "read"}};
        }
        body = requests[0].read_body(4).value();
        BOOST_TEST(!requests[0].read_body(3).has_value());
        answer(0, Reply{});
        return std::vector<Deferral>{};
    };
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(server.serve(1, handler) == 1U);
    BOOST_TEST(server.serve(1, handler) == 1U);
    BOOST_TEST(body == "read");
}

BOOST_AUTO_TEST_CASE(a_deferred_request_without_an_effect_ends_with_its_peer) {
    const auto place = std::make_shared<const int>();
    const Handler handler =
        defer_once({.place = place, .not_before = in_an_hour(), .has_effect = false});
    {
        const Peer peer(path);
        peer.send(head());
        BOOST_TEST(server.serve(1, handler) == 1U);
        BOOST_TEST(server.serve(1, handler) == 0U);
    }
    const long without_the_request = place.use_count() - 1;
    BOOST_TEST(server.serve(1, handler) == 0U);
    BOOST_TEST(place.use_count() == without_the_request);
}

BOOST_AUTO_TEST_CASE(a_deferred_request_with_an_effect_is_answered_after_its_peer_has_gone) {
    const Handler handler = defer_once({});
    {
        const Peer peer(path);
        peer.send(head());
        BOOST_TEST(server.serve(1, handler) == 1U);
    }
    BOOST_TEST(server.serve(1, handler) == 1U);
}

BOOST_AUTO_TEST_CASE(a_deferred_request_is_answered_if_its_peer_sends_no_more) {
    const Handler handler = defer_once({.has_effect = false});
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(server.serve(1, handler) == 1U);
    peer.end_sending();
    BOOST_TEST(server.serve(1, handler) == 1U);
    BOOST_TEST(peer.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_deferred_request_is_answered_before_the_worker_ends) {
    bool has_room = false;
    FcgiServer sharing(listener, [&](const std::string&) { return has_room; });
    const Handler handler = [&](std::span<const Request> requests, const Answer& answer) {
        if (!has_room) {
            return std::vector<Deferral>{{.index = 0, .share = "a"}};
        }
        BOOST_TEST(requests[0].may_wait);
        answer(0, Reply{});
        return std::vector<Deferral>{};
    };
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(sharing.serve(1, handler) == 1U);
    BOOST_TEST(sharing.serve(1, handler) == 0U);
    has_room = true;
    sharing.finish(1, handler);
    BOOST_TEST(peer.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_answers_all_deferred_requests_however_long_one_takes) {
    int answered = 0;
    const Peer peers[] = {Peer(path), Peer(path), Peer(path)};
    const Handler handler = [&](std::span<const Request> requests, const Answer& answer) {
        if (requests[0].may_wait) return std::vector<Deferral>{{.index = 0, .share = "a"}};
        if (answered++ == 0) {  // as a slow database does
            constexpr std::chrono::milliseconds kSlow = FcgiServer::kLongestWait + 100ms;
            poll(nullptr, 0, static_cast<int>(kSlow.count()));
        }
        answer(0, Reply{});
        return std::vector<Deferral>{};
    };
    FcgiServer sharing(listener, [](const std::string&) { return false; });
    for (const Peer& peer : peers) {
        peer.send(head());
        BOOST_TEST(sharing.serve(1, handler) == 1U);
    }
    sharing.finish(1, handler, 0s);
    BOOST_TEST(answered == 3);
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_does_not_wait_for_a_turn) {
    const Handler handler = defer_once({.not_before = in_an_hour(), .is_turn = true});
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(server.serve(1, handler) == 1U);
    BOOST_TEST(server.serve(1, handler) == 0U);
    const auto began = std::chrono::steady_clock::now();
    server.finish(1, handler);
    BOOST_TEST((std::chrono::steady_clock::now() - began < FcgiServer::kLongestWait));
    BOOST_TEST(peer.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_long_pause_does_not_lengthen_the_longest_wait) {
    const auto began = std::chrono::steady_clock::now();
    const Handler handler = defer_once({.not_before = in_an_hour()});
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(server.serve(1, handler) == 1U);
    sigset_t none{};
    while (server.serve(1, handler) == 0U) server.wait(none);
    BOOST_TEST((std::chrono::steady_clock::now() - began < FcgiServer::kLongestWait + 2s));
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_at_once_tries_deferred_requests_for_the_last_time) {
    FcgiServer without_room(listener, [](const std::string&) { return false; });
    const Handler handler = [](std::span<const Request> requests, const Answer& answer) {
        if (requests[0].may_wait) return std::vector<Deferral>{{.index = 0, .share = "a"}};
        answer(0, Reply{});
        return std::vector<Deferral>{};
    };
    const Peer peer(path);
    peer.send(head());
    BOOST_TEST(without_room.serve(1, handler) == 1U);
    const auto began = std::chrono::steady_clock::now();
    without_room.finish(1, handler, 0s);
    BOOST_TEST((std::chrono::steady_clock::now() - began < FcgiServer::kLongestWait));
    BOOST_TEST(peer.received().find("Status: ") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
