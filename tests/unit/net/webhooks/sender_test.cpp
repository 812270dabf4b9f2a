// net/webhooks/sender.hpp against real sockets: the replies of receivers and the results of posts.
#include "unit/base/logged.hpp"
#include "unit/net/tls_receiver.hpp"
#include "unit/net/webhooks/sending.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <latch>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace muster;
using namespace muster::test;

namespace {

// Accepts no connection, and its backlog is full: a SYN gets no answer.
class FullQueue {
  public:
    FullQueue() {
        for (int& waiting : waiting_) {
            waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            static_cast<void>(connect(waiting, listener_.address(), sizeof(sockaddr_in)));
        }
    }
    ~FullQueue() {
        for (const int waiting : waiting_) close(waiting);
    }
    FullQueue(const FullQueue&) = delete;
    FullQueue& operator=(const FullQueue&) = delete;

    std::string url() const { return "http://" + listener_.authority(); }

  private:
    LoopbackListener listener_{0};
    std::array<int, 4> waiting_{};
};

// Keeps eight connections open. Then it closes each connection at its next post, without a reply.
class ForgetfulReceiver {
  public:
    // Without `answers_new`, it closes new connections too.
    explicit ForgetfulReceiver(bool answers_new) : answers_new_(answers_new) {}

    // Returns when the sender has eight idle connections.
    void open_connections(WebhookSender& sender) {
        for (std::uint64_t tag = 0; tag < kKept; ++tag)
            sender.start(post_to(server_.url() + "/open", tag));
        for (const auto& result : all_of(sender)) BOOST_TEST_REQUIRE(result.outcome == "200");
        BOOST_TEST_REQUIRE(server_.connections() == static_cast<int>(kKept));
    }
    std::string url() const { return server_.url() + "/hook"; }
    int posts() const { return posts_; }

  private:
    static constexpr std::uint64_t kKept = 8;

    ServedResponse answer(const ServedRequest& request) {
        ServedResponse response;
        if (request.path == "/open") {
            // No connection is idle before all of them are open.
            opened_.arrive_and_wait();
        } else {
            ++posts_;
            response.hang_up = !answers_new_ || server_.connections() <= static_cast<int>(kKept);
        }
        return response;
    }

    const bool answers_new_;
    std::atomic<int> posts_ = 0;
    std::latch opened_{static_cast<std::ptrdiff_t>(kKept)};
    LoopbackServer server_{[this](const ServedRequest& request) { return answer(request); }};
};

// A port without a listener.
std::string dead_url() {
    const LoopbackServer gone(answering({}));
    return gone.url();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(net_webhook_sender, Sending)

BOOST_AUTO_TEST_CASE(a_post_is_sent_unchanged_and_its_reply_is_reported) {
    std::mutex mutex;
    ServedRequest got;
    const LoopbackServer server([&](const ServedRequest& request) {
        const std::lock_guard lock(mutex);
        got = request;
        ServedResponse response;
        response.status = 202;
        response.body = "taken";
        return response;
    });
    const auto result = send(settings(), server.url() + "/hook?x=1");
    BOOST_TEST(result.outcome == "202");
    BOOST_TEST(result.status.value() == 202);
    BOOST_TEST(result.excerpt == "taken");
    BOOST_TEST(!result.retry_after);
    BOOST_TEST(result.duration.count() >= 0);
    BOOST_TEST(result.duration.count() < 2000);
    BOOST_TEST(got.method == "POST");
    BOOST_TEST(got.path == "/hook?x=1");
    BOOST_TEST(got.body == R"({"type":"member.created"})");
    BOOST_TEST(got.headers["content-type"] == "application/json");
    BOOST_TEST(got.headers["webhook-id"] == "msg_1");
    BOOST_TEST(got.headers["user-agent"].starts_with("Muster-Webhooks/"));
    for (const char* absent :
         {"expect", "accept-encoding", "cookie", "authorization", "connection"})
        BOOST_TEST(!got.headers.contains(absent), absent);
}

BOOST_AUTO_TEST_CASE(the_status_of_the_reply_is_the_outcome) {
    const LoopbackServer server([](const ServedRequest& request) {
        ServedResponse response;
        response.status = std::stoi(request.path.substr(1));
        response.body = "";
        return response;
    });
    WebhookSender sender(settings());
    for (const auto& [status, outcome] : std::map<int, std::string>{{200, "200"},
                                                                    {201, "201"},
                                                                    {204, "204"},
                                                                    {299, "299"},
                                                                    {300, "http_3xx"},
                                                                    {304, "http_3xx"},
                                                                    {400, "http_4xx"},
                                                                    {401, "http_4xx"},
                                                                    {407, "http_4xx"},
                                                                    {410, "http_4xx"},
                                                                    {429, "http_4xx"},
                                                                    {500, "http_5xx"},
                                                                    {503, "http_5xx"},
                                                                    {999, "http_5xx"}}) {
        const auto result = send(sender, post_to(server.url() + "/" + std::to_string(status)));
        BOOST_TEST(result.outcome == outcome, status << " is " << result.outcome);
        BOOST_TEST(result.status.value_or(0) == status);
    }
    BOOST_TEST(server.connections() == 1);  // reused between posts
}

BOOST_AUTO_TEST_CASE(a_redirect_is_not_followed) {
    const LoopbackServer target(answering({}));
    for (const int status : {301, 302, 303, 307, 308}) {
        ServedResponse response;
        response.status = status;
        response.headers = {{"Location", target.url() + "/"}};
        const LoopbackServer server(answering(response));
        BOOST_TEST(send(settings(), server.url()).outcome == "http_3xx");
    }
    BOOST_TEST(target.connections() == 0);
}

BOOST_AUTO_TEST_CASE(retry_after_is_read_as_seconds_and_as_a_date) {
    const auto retry_after_of = [&](const std::string& value) {
        ServedResponse response;
        response.status = 503;
        response.headers = {{"retry-AFTER", value}};
        const LoopbackServer server(answering(response));
        const auto result = send(settings(), server.url());
        return result.retry_after ? result.retry_after->count() : -1;
    };
    BOOST_TEST(retry_after_of("120") == 120'000);
    BOOST_TEST(retry_after_of("0") == 0);
    BOOST_TEST(retry_after_of("99999999999999999999") == 30L * 24 * 3600 * 1000);
    BOOST_TEST(retry_after_of("soon") == -1);
    BOOST_TEST(retry_after_of("-5") == -1);
    BOOST_TEST(retry_after_of("") == -1);
    const std::time_t then = Timestamp::now().milliseconds() / 1000 + 300;
    std::array<char, 64> date{};
    std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&then));
    const auto span = retry_after_of(date.data());
    BOOST_TEST(span > 290'000);
    BOOST_TEST(span <= 300'000);
    BOOST_TEST(retry_after_of("Fri, 31 Dec 1999 23:59:59 GMT") == 0);
}

BOOST_AUTO_TEST_CASE(an_unresponsive_receiver_times_out) {
    ServedResponse silent;
    silent.hang = true;
    const LoopbackServer server(answering(silent));
    const auto result = send(settings(), server.url());
    BOOST_TEST(result.outcome == "timeout");
    BOOST_TEST(!result.status);
    BOOST_TEST(result.duration.count() >= 1900);
    BOOST_TEST(result.duration.count() < 3500);
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_long_body_is_not_read) {
    ServedResponse endless;
    endless.raw = "HTTP/1.1 200 OK\r\n\r\n" + std::string(2000, 'a');
    endless.endless = std::string(1000, 'b');
    const LoopbackServer server(answering(endless));
    const auto result = send(settings(), server.url());
    BOOST_TEST(result.outcome == "200");
    BOOST_TEST(result.excerpt == std::string(1024, 'a'));
    BOOST_TEST(result.duration.count() < 1900);
}

BOOST_AUTO_TEST_CASE(an_endless_head_is_a_failure) {
    for (const char* start : {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}) {
        ServedResponse endless;
        endless.raw = start;
        endless.endless = *(start + 9) == '2' ? "X-More: of it\r\n" : start;
        const LoopbackServer server(answering(endless));
        const auto result = send(settings(), server.url());
        BOOST_TEST(result.outcome == "connect", start << result.outcome);
        BOOST_TEST(!result.status);
    }
}

BOOST_AUTO_TEST_CASE(a_head_has_a_size_limit) {
    for (const auto& [lines, outcome] : {std::pair(500, "200"), std::pair(1000, "connect")}) {
        ServedResponse large;
        large.raw = "HTTP/1.1 200 OK\r\n";
        for (int i = 0; i < lines; ++i) large.raw += "X-More: " + std::string(90, 'x') + "\r\n";
        large.raw += "Content-Length: 0\r\n\r\n";
        const LoopbackServer server(answering(large));
        BOOST_TEST(send(settings(), server.url()).outcome == outcome, lines);
    }
    // Longer than curl's buffer, for which it reports that it lacks memory.
    ServedResponse endless;
    endless.raw = "HTTP/1.1 200 OK\r\nX-More: " + std::string(300'000, 'x') + "\r\n\r\n";
    const LoopbackServer server(answering(endless));
    BOOST_TEST(send(settings(), server.url()).outcome == "connect");
}

BOOST_AUTO_TEST_CASE(a_chunk_extension_without_end_is_a_failure) {
    ServedResponse padded;
    padded.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;";
    padded.endless = std::string(65'536, 'x');
    const LoopbackServer server(answering(padded));
    const TlsReceiver tls("hooks.example");
    const LoopbackDns dns(knowing({{"hooks.example", {"127.0.0.1"}}}));
    auto trusting = settings(true, &dns);
    trusting.ca_file = tls.ca_file();
    for (const std::string& url :
         {server.url(), "https://hooks.example:" + std::to_string(tls.port()) + "/padded"}) {
        const auto result = send(trusting, url);
        BOOST_TEST(result.outcome == "connect", url << " is " << result.outcome);
        BOOST_TEST(!result.status);
        BOOST_TEST(result.excerpt.empty());
        BOOST_TEST(result.duration.count() < 1900);
    }
}

BOOST_AUTO_TEST_CASE(a_body_in_tiny_chunks_counts_by_its_status) {
    for (const int bytes : {50'000, 100'000}) {
        ServedResponse tiny;
        tiny.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (int i = 0; i < bytes; ++i) tiny.raw += "00000001\r\na\r\n";
        tiny.raw += "0\r\n\r\n";
        const LoopbackServer server(answering(tiny));
        const auto result = send(settings(), server.url());
        BOOST_TEST(result.outcome == "200", bytes);
        BOOST_TEST(result.excerpt == std::string(1024, 'a'));
    }
}

BOOST_AUTO_TEST_CASE(an_interrupted_reply_counts_by_its_head) {
    ServedResponse cut;
    cut.body = "abcdef";
    cut.cut_body_after = 3;
    const LoopbackServer in_body(answering(cut));
    const auto result = send(settings(), in_body.url());
    BOOST_TEST(result.outcome == "200");
    BOOST_TEST(result.excerpt == "abc");
    for (const char* raw : {"HTTP/1.1 200 OK\r\nX-Head: cut", "SSH-2.0-OpenSSH_9.2\r\n",
                            "220 mail.example ESMTP\r\n", "\x15\x03\x01", "HTTP/1.1 2"}) {
        ServedResponse broken;
        broken.raw = raw;
        const LoopbackServer server(answering(broken));
        BOOST_TEST(send(settings(), server.url()).outcome == "connect", raw);
    }
    ServedResponse nothing;
    nothing.hang_up = true;
    const LoopbackServer silent(answering(nothing));
    BOOST_TEST(send(settings(), silent.url()).outcome == "connect");
}

BOOST_AUTO_TEST_CASE(an_excerpt_is_the_bytes_as_sent) {
    ServedResponse response;
    response.body = std::string("\x1f\x8b\0\xff\r\n", 6);
    response.headers = {{"Content-Encoding", "gzip"}};
    const LoopbackServer server(answering(response));
    BOOST_TEST(send(settings(), server.url()).excerpt == response.body);
}

BOOST_AUTO_TEST_CASE(a_refused_connection_is_a_connect_failure) {
    const std::string url = dead_url();
    const auto result = send(settings(), url);
    BOOST_TEST(result.outcome == "connect");
    BOOST_TEST(!result.status);
}

BOOST_AUTO_TEST_CASE(a_post_that_curl_rejects_is_an_internal_failure) {
    const LoopbackServer server(answering({}));
    const LoopbackDns dns(knowing({{"hooks.example", {"127.0.0.1"}}}));
    auto odd = settings(true, &dns);
    odd.ca_file = std::string(9'000'000, 'a');  // curl rejects a text of more than 8 MB
    WebhookSender sender(odd);
    std::vector<PostResult> results;
    const std::string log = logged([&] {
        for (std::uint64_t tag = 0; tag < 3; ++tag)
            sender.start(post_to("https://hooks.example/", tag));
        sender.start(post_to(server.url(), 3));
        results = all_of(sender);
        results.push_back(send(sender, post_to("https://hooks.example/")));
    });
    BOOST_TEST(results.size() == 5U);
    for (const auto& result : results) BOOST_TEST(result.outcome == "internal");
    BOOST_TEST(sender.pending_count() == 0U);
    BOOST_TEST(log.find("level=error event=webhook.not_sent attempts=1 reason=\"curl: ") !=
               log.npos);
}

BOOST_AUTO_TEST_CASE(without_the_file_of_authorities_a_post_fails_internally) {
    const TlsReceiver server("hooks.example");
    auto odd = settings();
    odd.ca_file = "/nonexistent/ca.pem";
    const std::string log = logged([&] {
        const auto result = send(odd, "https://127.0.0.1:" + std::to_string(server.port()) + "/");
        BOOST_TEST(result.outcome == "internal");
    });
    BOOST_TEST(log.find("level=error event=webhook.not_sent") != log.npos);
}

BOOST_AUTO_TEST_CASE(without_a_free_file_descriptor_a_post_fails_internally) {
    WebhookSender sender(settings());
    rlimit usual{};
    BOOST_REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const int lowest_free = dup(STDOUT_FILENO);
    close(lowest_free);
    const rlimit none{static_cast<rlim_t>(lowest_free), usual.rlim_max};
    BOOST_REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const std::string outcome = send(sender, post_to("http://127.0.0.1:1")).outcome;
    BOOST_REQUIRE(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    BOOST_TEST(outcome == "internal");
    const LoopbackServer server(answering({}));  // it could not accept without a descriptor
    BOOST_TEST(send(sender, post_to(server.url())).outcome == "200");
}

// The runner waits for a database that hangs.
BOOST_AUTO_TEST_CASE(a_reply_that_the_sender_did_not_read_in_time_is_an_internal_failure) {
    std::latch taken(1);
    std::latch answers(1);
    const LoopbackServer server([&](const ServedRequest&) {
        taken.count_down();
        answers.wait();
        return ServedResponse{};
    });
    WebhookSender sender(settings());
    sender.start(post_to(server.url()));
    const auto time_up = Clock::now() + std::chrono::milliseconds(2'100);
    while (!taken.try_wait()) BOOST_TEST_REQUIRE(sender.wait(Milliseconds(5)).empty());
    answers.count_down();
    while (Clock::now() < time_up)
        std::this_thread::sleep_for(Milliseconds(20));  // lint: sleeps because it polls
    const std::string log = logged([&] {
        const auto results = all_of(sender);
        BOOST_REQUIRE_EQUAL(results.size(), 1U);
        BOOST_TEST(results[0].outcome == "internal");
    });
    BOOST_TEST(
        log.find("event=webhook.not_sent attempts=1 reason=\"replies were not read in time\"") !=
        log.npos);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_not_established_in_time_is_a_connect_failure) {
    const FullQueue full;
    const auto result = send(settings(), full.url());
    BOOST_TEST(result.outcome == "connect");
    BOOST_TEST(result.duration.count() >= 900);
    BOOST_TEST(result.duration.count() < 1900);
}

BOOST_AUTO_TEST_CASE(a_closed_kept_connection_is_reopened) {
    std::atomic<int> count = 0;
    const LoopbackServer server([&](const ServedRequest&) {
        ServedResponse response;
        ++count;
        response.raw = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";  // and closes
        return response;
    });
    WebhookSender sender(settings());
    for (int i = 0; i < 5; ++i) BOOST_TEST(send(sender, post_to(server.url())).outcome == "200");
    BOOST_TEST(count == 5);
}

BOOST_AUTO_TEST_CASE(a_post_is_repeated_once_and_on_a_new_connection) {
    for (const auto& [answers_new, outcome] :
         {std::pair(true, "200"), std::pair(false, "connect")}) {
        ForgetfulReceiver receiver(answers_new);
        WebhookSender sender(settings());
        receiver.open_connections(sender);
        BOOST_TEST(send(sender, post_to(receiver.url())).outcome == outcome);
        BOOST_TEST(receiver.posts() == 2);
    }
}

BOOST_AUTO_TEST_CASE(an_unresponsive_receiver_does_not_block_others) {
    ServedResponse silent;
    silent.hang = true;
    const LoopbackServer hanging(answering(silent));
    const LoopbackServer server(answering({}));
    auto patient = settings();
    patient.total_seconds = 8;
    WebhookSender sender(patient);
    for (std::uint64_t tag = 0; tag < 200; ++tag)
        sender.start(post_to(tag == 0 ? hanging.url() : server.url(), tag));
    std::vector<PostResult> results;
    const auto began = Clock::now();
    while (results.size() < 199 && Clock::now() - began < std::chrono::seconds(7)) {
        auto more = sender.wait(Milliseconds(500));
        std::move(more.begin(), more.end(), std::back_inserter(results));
    }
    BOOST_TEST(results.size() == 199U);
    for (const auto& result : results) {
        BOOST_TEST(result.outcome == "200");
        BOOST_TEST(result.tag != 0U);
    }
    BOOST_TEST(sender.pending_count() == 1U);
}

BOOST_AUTO_TEST_CASE(a_thousand_posts_may_be_in_progress) {
    const LoopbackServer server(answering({}));
    auto patient = settings();
    patient.connect_seconds = 10;
    patient.total_seconds = 15;
    WebhookSender sender(patient);
    for (std::uint64_t tag = 0; tag < 1000; ++tag) sender.start(post_to(server.url(), tag));
    BOOST_TEST(sender.pending_count() == 1000U);
    std::map<std::string, int> outcomes;
    for (const auto& result : all_of(sender)) ++outcomes[result.outcome];
    BOOST_TEST(outcomes["200"] == 1000);
}

BOOST_AUTO_TEST_CASE(waiting_has_a_timeout_and_a_sender_may_be_destroyed_before_its_posts) {
    ServedResponse silent;
    silent.hang = true;
    const LoopbackServer server(answering(silent));
    const LoopbackDns dns([](const auto&, int) { return std::nullopt; });
    WebhookSender sender(settings(true, &dns));
    const auto began = Clock::now();
    BOOST_TEST(sender.wait(Milliseconds(50)).empty());
    sender.start(post_to(server.url()));
    sender.start(post_to("https://hooks.example/"));
    BOOST_TEST(sender.wait(Milliseconds(100)).empty());
    BOOST_TEST(Clock::now() - began >= Milliseconds(150));
    BOOST_TEST(Clock::now() - began < Milliseconds(900));
    BOOST_TEST(sender.pending_count() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
