// net/webhooks/sender.hpp: which destinations are allowed: URLs, names, certificates, proxies,
// headers.
#include "base/text.hpp"
#include "net/webhooks/transfer.hpp"
#include "unit/net/tls_receiver.hpp"
#include "unit/net/webhooks/sending.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

using namespace muster;
using namespace muster::test;

namespace {

// A public address that is not assigned: no request of a test reaches a machine.
constexpr const char* kNobodys = "2e00::1";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(net_webhook_route, Sending)

BOOST_AUTO_TEST_CASE(a_forbidden_url_is_not_requested) {
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

BOOST_AUTO_TEST_CASE(a_header_cannot_inject_another) {
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
    BOOST_TEST(sender.pending_count() == 0U);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(the_connection_uses_the_address_that_was_checked) {
    const TlsReceiver server("hooks.example");
    // Only the first answer is this address.
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
    BOOST_TEST(dns.questions("hooks.example") == 2);  // A and AAAA, then cached
}

BOOST_AUTO_TEST_CASE(an_untrusted_certificate_is_a_tls_failure) {
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

BOOST_AUTO_TEST_CASE(a_receiver_without_tls_gets_no_data) {
    std::atomic<int> requests = 0;
    ServedResponse plain;
    plain.raw = "HTTP/1.1 400 Bad Request\r\n\r\n";
    const LoopbackServer server([&](const ServedRequest&) {
        ++requests;
        return plain;
    });
    // It waits for a line end that TLS does not send.
    BOOST_TEST(send(settings(), "https://127.0.0.1" + port_of(server)).outcome == "timeout");
    BOOST_TEST(requests == 0);
}

BOOST_AUTO_TEST_CASE(a_name_with_a_forbidden_address_is_not_connected_to) {
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

BOOST_AUTO_TEST_CASE(a_name_that_changes_its_address_is_not_reconnected) {
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
    BOOST_TEST(dns.questions("rebind.example") == 2);  // checked and used: the same answer
    BOOST_TEST(send(sender, post_to(url)).outcome == "blocked_address");
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(the_socket_is_rejected_if_curl_uses_another_address) {
    const LoopbackServer server(answering({}));
    const auto strict = settings(false);
    net::WebhookTransfer transfer(post_to("https://astray.example" + port_of(server)), strict);
    BOOST_REQUIRE(transfer.read_url());
    const auto good = *net::IpAddress::parse("93.184.216.34");
    const auto bad = *net::IpAddress::parse("10.0.0.1");
    BOOST_TEST(!transfer.pin({good, bad}));
    BOOST_REQUIRE(transfer.pin({good}));
    CURL* curl = transfer.prepare();
    net::CurlList elsewhere;
    net::append(elsewhere, "astray.example" + port_of(server) + ":127.0.0.1");
    net::set(curl, CURLOPT_RESOLVE, elsewhere.get());
    const auto result = transfer.result(curl_easy_perform(curl));
    BOOST_TEST(result.outcome == "blocked_address");
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_name_without_addresses_is_a_dns_failure) {
    BOOST_TEST(send(settings(false), "https://nowhere.example/").outcome == "dns");
    const LoopbackDns silent([](const auto&, int) { return std::nullopt; });
    const auto result = send(settings(false, &silent), "https://hooks.example/");
    BOOST_TEST(result.outcome == "dns");
    BOOST_TEST(result.duration.count() >= 900);
    BOOST_TEST(result.duration.count() < 2000);
}

BOOST_AUTO_TEST_CASE(posts_to_the_same_name_share_one_lookup) {
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

BOOST_AUTO_TEST_CASE(localhost_is_loopback_where_the_policy_allows_it) {
    const LoopbackServer server(answering({}));
    BOOST_TEST(send(settings(), "http://localhost" + port_of(server)).outcome == "200");
}

BOOST_AUTO_TEST_CASE(proxy_variables_of_the_environment_are_ignored) {
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

BOOST_AUTO_TEST_SUITE_END()
