// net/webhook_sender.hpp against real sockets: what receivers and name servers may answer, and what
// becomes of the posts.
#include "net/webhook_sender.hpp"

#include "base/text.hpp"
#include "unit/client/loopback_server.hpp"
#include "unit/net/loopback_dns.hpp"
#include "unit/net/tls_receiver.hpp"

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>

using namespace muster;
using net::Post;
using net::PostResult;
using net::SenderSettings;
using net::WebhookSender;
using test::knowing;
using test::LoopbackDns;
using test::LoopbackServer;
using test::ServedRequest;
using test::ServedResponse;
using test::TlsReceiver;

namespace {

using Clock = std::chrono::steady_clock;

// Public by its number, and nobody's: nothing of a test reaches a machine.
constexpr const char* kNobodys = "2e00::1";

struct Sending {
    LoopbackDns nobody{knowing({})};

    SenderSettings settings(bool loopback = true, const LoopbackDns* dns = nullptr) const {
        SenderSettings settings;
        settings.policy = {loopback, (dns != nullptr ? *dns : nobody).address()};
        settings.connect_seconds = 1;
        settings.total_seconds = 2;
        return settings;
    }
};

Post post_to(const std::string& url, std::uint64_t tag = 1) {
    return {tag, url, {{"webhook-id", "msg_1"}}, R"({"type":"member.created"})"};
}

std::vector<PostResult> all_of(WebhookSender& sender) {
    std::vector<PostResult> results;
    const auto ends_at = Clock::now() + std::chrono::seconds(20);
    while (sender.under_way() > 0 && Clock::now() < ends_at) {
        auto more = sender.wait(Milliseconds(500));
        std::move(more.begin(), more.end(), std::back_inserter(results));
    }
    return results;
}

PostResult send(WebhookSender& sender, const Post& post) {
    sender.start(post);
    const auto results = all_of(sender);
    BOOST_REQUIRE_EQUAL(results.size(), 1U);
    BOOST_TEST(results[0].tag == post.tag);
    return results[0];
}

PostResult send(const SenderSettings& settings, const std::string& url) {
    WebhookSender sender(settings);
    return send(sender, post_to(url));
}

LoopbackServer::Handler answering(const ServedResponse& response) {
    return [response](const ServedRequest&) { return response; };
}

std::string port_of(const LoopbackServer& server) {
    return server.url().substr(server.url().rfind(':'));
}

// Accepts nobody, and has no more room for those who wait: a SYN stays without an answer.
class FullQueue {
  public:
    FullQueue() {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* any = reinterpret_cast<sockaddr*>(&address);
        socklen_t length = sizeof address;
        if (bind(listener_, any, length) != 0 || listen(listener_, 0) != 0 ||
            getsockname(listener_, any, &length) != 0)
            throw std::runtime_error("no socket on the loopback");
        port_ = ntohs(address.sin_port);
        for (int& waiting : waiting_) {
            waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            static_cast<void>(connect(waiting, any, length));
        }
    }
    ~FullQueue() {
        for (const int waiting : waiting_) close(waiting);
        close(listener_);
    }
    FullQueue(const FullQueue&) = delete;
    FullQueue& operator=(const FullQueue&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  private:
    int listener_ = -1;
    int port_ = 0;
    std::array<int, 4> waiting_{};
};

// A port that nobody listens on.
std::string dead_url() {
    const LoopbackServer gone(answering({}));
    return gone.url();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(net_webhook_sender, Sending)

BOOST_AUTO_TEST_CASE(a_post_arrives_as_it_is_and_its_answer_is_told) {
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

BOOST_AUTO_TEST_CASE(an_answer_counts_by_its_status) {
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
    BOOST_TEST(server.connections() == 1);  // kept between posts
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

BOOST_AUTO_TEST_CASE(retry_after_is_read_in_both_its_forms) {
    const auto told = [&](const std::string& value) {
        ServedResponse response;
        response.status = 503;
        response.headers = {{"retry-AFTER", value}};
        const LoopbackServer server(answering(response));
        const auto result = send(settings(), server.url());
        return result.retry_after ? result.retry_after->count() : -1;
    };
    BOOST_TEST(told("120") == 120'000);
    BOOST_TEST(told("0") == 0);
    BOOST_TEST(told("99999999999999999999") == 30L * 24 * 3600 * 1000);
    BOOST_TEST(told("soon") == -1);
    BOOST_TEST(told("-5") == -1);
    BOOST_TEST(told("") == -1);
    const std::time_t then = Timestamp::now().milliseconds() / 1000 + 300;
    std::array<char, 64> date{};
    std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&then));
    const auto span = told(date.data());
    BOOST_TEST(span > 290'000);
    BOOST_TEST(span <= 300'000);
    BOOST_TEST(told("Fri, 31 Dec 1999 23:59:59 GMT") == 0);
}

BOOST_AUTO_TEST_CASE(a_receiver_that_hangs_times_out) {
    ServedResponse silent;
    silent.hang = true;
    const LoopbackServer server(answering(silent));
    const auto result = send(settings(), server.url());
    BOOST_TEST(result.outcome == "timeout");
    BOOST_TEST(!result.status);
    BOOST_TEST(result.duration.count() >= 1900);
    BOOST_TEST(result.duration.count() < 3500);
}

BOOST_AUTO_TEST_CASE(what_follows_the_first_bytes_of_a_body_is_not_waited_for) {
    ServedResponse endless;
    endless.raw = "HTTP/1.1 200 OK\r\n\r\n" + std::string(2000, 'a');
    endless.endless = std::string(1000, 'b');
    const LoopbackServer server(answering(endless));
    const auto result = send(settings(), server.url());
    BOOST_TEST(result.outcome == "200");
    BOOST_TEST(result.excerpt == std::string(1024, 'a'));
    BOOST_TEST(result.duration.count() < 1900);
}

BOOST_AUTO_TEST_CASE(an_endless_head_is_no_answer) {
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

BOOST_AUTO_TEST_CASE(an_answer_that_breaks_off_counts_by_its_head) {
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

BOOST_AUTO_TEST_CASE(an_excerpt_is_the_bytes_as_they_were_sent) {
    ServedResponse response;
    response.body = std::string("\x1f\x8b\0\xff\r\n", 6);
    response.headers = {{"Content-Encoding", "gzip"}};
    const LoopbackServer server(answering(response));
    BOOST_TEST(send(settings(), server.url()).excerpt == response.body);
}

BOOST_AUTO_TEST_CASE(nobody_at_the_address_is_no_connection) {
    const std::string url = dead_url();
    const auto result = send(settings(), url);
    BOOST_TEST(result.outcome == "connect");
    BOOST_TEST(!result.status);
}

BOOST_AUTO_TEST_CASE(a_connection_that_does_not_come_about_in_time_is_none) {
    const FullQueue full;
    const auto result = send(settings(), full.url());
    BOOST_TEST(result.outcome == "connect");
    BOOST_TEST(result.duration.count() >= 900);
    BOOST_TEST(result.duration.count() < 1900);
}

BOOST_AUTO_TEST_CASE(a_kept_connection_that_was_closed_is_made_anew) {
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

BOOST_AUTO_TEST_CASE(no_url_that_an_endpoint_may_not_have_is_sent_to) {
    const LoopbackServer server(answering({}));
    for (const std::string& url :
         {server.url(), "https://127.0.0.1" + port_of(server),
          "https://localhost" + port_of(server), "https://[::ffff:127.0.0.1]" + port_of(server),
          "https://2130706433" + port_of(server),
          "https://good.example\r\nX-Evil: 1/" + port_of(server), std::string("nonsense"),
          "https://user@127.0.0.1" + port_of(server), std::string("https://169.254.169.254/")}) {
        const auto result = send(settings(false), url);
        BOOST_TEST(result.outcome == "blocked_address", url << " is " << result.outcome);
        BOOST_TEST(!result.status);
    }
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_header_cannot_write_another) {
    const LoopbackServer server(answering({}));
    WebhookSender sender(settings());
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"x", "1\r\nX-Evil: 1"},
                                                          {"x", "1\n"},
                                                          {"x", "\r"},
                                                          {"x\r\ny", "1"},
                                                          {"x: y", "1"},
                                                          {"", "1"},
                                                          {"x", ""},
                                                          {"x", std::string("1\0", 2)}}) {
        Post post = post_to(server.url());
        post.headers = {{name, value}};
        BOOST_CHECK_THROW(sender.start(post), std::invalid_argument);
    }
    BOOST_TEST(sender.under_way() == 0U);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_name_is_connected_to_at_the_address_that_was_judged) {
    const TlsReceiver server("hooks.example");
    // Only the first answer leads there.
    const LoopbackDns dns([](const std::string&, int nth) {
        return std::vector<std::string>{nth == 0 ? "127.0.0.1" : "127.0.0.2"};
    });
    auto own = settings(true, &dns);
    own.ca_file = server.ca_file();
    own.total_seconds = 5;
    const std::string authority = "hooks.example:" + std::to_string(server.port());
    WebhookSender sender(own);
    for (const std::string& url :
         {"https://" + authority + "/hook",
          "https://HOOKS.example.:" + std::to_string(server.port()) + "/hook"}) {
        auto result = send(sender, post_to(url));
        BOOST_TEST(result.outcome == "200");
        ascii_lower(result.excerpt);
        BOOST_TEST(result.excerpt == "hooks.example " + authority);
    }
    BOOST_TEST(dns.questions("hooks.example") == 2);  // A and AAAA, and remembered
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_not_to_be_trusted_is_a_failure_of_tls) {
    const TlsReceiver server("hooks.example");
    const LoopbackDns dns(
        knowing({{"hooks.example", {"127.0.0.1"}}, {"other.example", {"127.0.0.1"}}}));
    auto trusting = settings(true, &dns);
    trusting.ca_file = server.ca_file();
    const std::string port = ":" + std::to_string(server.port()) + "/";
    BOOST_TEST(send(settings(true, &dns), "https://hooks.example" + port).outcome == "tls");
    BOOST_TEST(send(trusting, "https://other.example" + port).outcome == "tls");
    BOOST_TEST(send(trusting, "https://127.0.0.1" + port).outcome == "tls");
    BOOST_TEST(send(trusting, "https://hooks.example" + port).outcome == "200");
}

BOOST_AUTO_TEST_CASE(a_receiver_that_speaks_no_tls_gets_nothing) {
    std::atomic<int> requests = 0;
    ServedResponse plain;
    plain.raw = "HTTP/1.1 400 Bad Request\r\n\r\n";
    const LoopbackServer server([&](const ServedRequest&) {
        ++requests;
        return plain;
    });
    // It waits for a line end that TLS has not sent.
    BOOST_TEST(send(settings(), "https://127.0.0.1" + port_of(server)).outcome == "timeout");
    BOOST_TEST(requests == 0);
}

BOOST_AUTO_TEST_CASE(a_name_with_a_bad_answer_is_not_connected_to) {
    const LoopbackServer server(answering({}));
    const LoopbackDns dns(knowing({{"inside.example", {"127.0.0.1"}},
                                   {"mixed.example", {kNobodys, "127.0.0.1"}},
                                   {"mapped.example", {"::ffff:127.0.0.1"}}}));
    for (const char* name : {"inside.example", "mixed.example", "mapped.example"}) {
        const auto result =
            send(settings(false, &dns), std::string("https://") + name + port_of(server));
        BOOST_TEST(result.outcome == "blocked_address", name);
    }
    const auto mixed = send(settings(true, &dns), "https://mixed.example" + port_of(server));
    BOOST_TEST(mixed.outcome != "blocked_address");  // both are allowed there
    BOOST_TEST(send(settings(true, &dns), "http://inside.example" + port_of(server)).outcome ==
               "blocked_address");
}

BOOST_AUTO_TEST_CASE(a_name_that_changes_its_mind_gains_nothing) {
    const LoopbackServer server(answering({}));
    const LoopbackDns dns([](const std::string&, int nth) {
        return std::vector<std::string>{nth == 0 ? kNobodys : "127.0.0.1"};
    });
    auto strict = settings(false, &dns);
    strict.cache_seconds = 0;
    const std::string url = "https://rebind.example" + port_of(server) + "/";
    BOOST_TEST(!net::fault_in_webhook_url(
        url, {false, LoopbackDns(knowing({{"rebind.example", {kNobodys}}})).address()}));
    WebhookSender sender(strict);
    BOOST_TEST(send(sender, post_to(url)).outcome == "connect");
    BOOST_TEST(dns.questions("rebind.example") == 2);  // judged and used: one and the same answer
    BOOST_TEST(send(sender, post_to(url)).outcome == "blocked_address");
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_name_without_addresses_is_a_failure_of_the_names) {
    BOOST_TEST(send(settings(false), "https://nowhere.example/").outcome == "dns");
    const LoopbackDns silent([](const auto&, int) { return std::nullopt; });
    const auto result = send(settings(false, &silent), "https://hooks.example/");
    BOOST_TEST(result.outcome == "dns");
    BOOST_TEST(result.duration.count() >= 900);
    BOOST_TEST(result.duration.count() < 2000);
}

BOOST_AUTO_TEST_CASE(posts_to_one_name_share_its_look_up) {
    const LoopbackServer server(answering({}));
    const LoopbackDns dns(knowing({{"localhost.example", {"10.0.0.1"}}}));
    WebhookSender sender(settings(false, &dns));
    for (std::uint64_t tag = 0; tag < 20; ++tag)
        sender.start(post_to("https://localhost.example/", tag));
    const auto results = all_of(sender);
    BOOST_TEST(results.size() == 20U);
    for (const auto& result : results) BOOST_TEST(result.outcome == "blocked_address");
    BOOST_TEST(dns.questions("localhost.example") == 2);
}

BOOST_AUTO_TEST_CASE(localhost_is_the_loopback_where_the_policy_allows_it) {
    const LoopbackServer server(answering({}));
    BOOST_TEST(send(settings(), "http://localhost" + port_of(server)).outcome == "200");
}

BOOST_AUTO_TEST_CASE(the_environments_proxy_does_not_count) {
    const LoopbackServer proxy(answering({}));
    const LoopbackServer server(answering({}));
    const char* const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                 "ALL_PROXY"};
    for (const char* name : names) setenv(name, proxy.url().c_str(), 1);
    BOOST_TEST(send(settings(), server.url()).outcome == "200");
    const TlsReceiver tls("hooks.example");
    const LoopbackDns dns(knowing({{"hooks.example", {"127.0.0.1"}}}));
    auto own = settings(true, &dns);
    own.ca_file = tls.ca_file();
    BOOST_TEST(send(own, "https://hooks.example:" + std::to_string(tls.port())).outcome == "200");
    for (const char* name : names) unsetenv(name);
    BOOST_TEST(proxy.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_receiver_that_hangs_keeps_nobody_waiting) {
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
    BOOST_TEST(sender.under_way() == 1U);
}

BOOST_AUTO_TEST_CASE(a_thousand_posts_may_be_under_way) {
    const LoopbackServer server(answering({}));
    auto patient = settings();
    patient.connect_seconds = 10;
    patient.total_seconds = 15;
    WebhookSender sender(patient);
    for (std::uint64_t tag = 0; tag < 1000; ++tag) sender.start(post_to(server.url(), tag));
    BOOST_TEST(sender.under_way() == 1000U);
    std::map<std::string, int> outcomes;
    for (const auto& result : all_of(sender)) ++outcomes[result.outcome];
    BOOST_TEST(outcomes["200"] == 1000);
}

BOOST_AUTO_TEST_CASE(waiting_ends_in_time_and_a_sender_may_go_before_its_posts) {
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
    BOOST_TEST((Clock::now() - began >= Milliseconds(150)));
    BOOST_TEST((Clock::now() - began < Milliseconds(900)));
    BOOST_TEST(sender.under_way() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
