// net/oauth.hpp against real sockets: the request, the reply, and every way in which a call can
// fail.
#include "net/oauth.hpp"

#include "unit/client/loopback_server.hpp"
#include "unit/net/tls_receiver.hpp"

#include "print.hpp"

#include <chrono>

using namespace muster;
using namespace muster::net;
using muster::test::LoopbackServer;
using muster::test::ServedRequest;
using muster::test::ServedResponse;
using muster::test::TlsReceiver;

namespace {

constexpr OAuthBounds kShort = {.connect_seconds = 1, .total_seconds = 1, .max_body = 1000};

OAuthRequest call_to(const std::string& url) {
    return {.url = url,
            .headers = {{"Accept", "application/json"},
                        {"Content-Type", "application/x-www-form-urlencoded"},
                        {"Authorization", "Basic aWQ6c2VjcmV0"}},
            .body = Secret("grant_type=refresh_token&refresh_token=r-1"),
            .ca_file = ""};
}

LoopbackServer::Handler answering(const ServedResponse& response) {
    return [response](const ServedRequest&) { return response; };
}

// The result of a call that gets this reply.
OAuthReply reply_to(const ServedResponse& response) {
    const LoopbackServer server(answering(response));
    return call_oauth(call_to(server.url() + "/token"), kShort);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(net_oauth)

BOOST_AUTO_TEST_CASE(a_call_is_sent_as_given_and_its_reply_is_returned_with_any_status) {
    const LoopbackServer server([](const ServedRequest& request) {
        ServedResponse response;
        response.status = request.method == "GET" ? 200 : 400;
        response.body = request.method + " " + request.path + " " +
                        request.headers.at("authorization") + " " + request.body;
        return response;
    });
    OAuthRequest call = call_to(server.url() + "/token?tenant=1");
    const OAuthReply posted = call_oauth(call);
    BOOST_TEST(posted.was_received());
    BOOST_TEST(posted.status == 400);
    BOOST_TEST(
        posted.body.reveal() ==
        "POST /token?tenant=1 Basic aWQ6c2VjcmV0 grant_type=refresh_token&refresh_token=r-1");
    call.body.reset();
    const OAuthReply got = call_oauth(call);
    BOOST_TEST(got.status == 200);
    BOOST_TEST(got.body.reveal() == "GET /token?tenant=1 Basic aWQ6c2VjcmV0 ");
}

BOOST_AUTO_TEST_CASE(a_redirect_is_returned_and_not_followed) {
    const LoopbackServer elsewhere(answering({}));
    const OAuthReply reply = reply_to(
        {.status = 307, .body = "", .headers = {{"Location", elsewhere.url() + "/token"}}});
    BOOST_TEST(reply.status == 307);
    BOOST_TEST(elsewhere.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_reply_may_be_as_large_as_the_limit_and_no_larger) {
    const OAuthReply whole = reply_to({.body = std::string(1000, 'x'), .headers = {}});
    BOOST_TEST(whole.body.reveal().size() == 1000U);
    const OAuthReply larger = reply_to({.body = std::string(1001, 'x'), .headers = {}});
    BOOST_TEST(larger.failure == "too_large");
    BOOST_TEST(larger.body.empty());
    const OAuthReply endless = reply_to({.body = "",
                                         .headers = {},
                                         .raw = "HTTP/1.1 200 OK\r\n\r\n",
                                         .endless = std::string(500, 'x')});
    BOOST_TEST(endless.failure == "too_large");
}

BOOST_AUTO_TEST_CASE(an_unresponsive_server_reaches_the_time_limit) {
    const auto began = std::chrono::steady_clock::now();
    const OAuthReply reply = reply_to({.body = "", .headers = {}, .hang = true});
    const auto took = std::chrono::steady_clock::now() - began;
    BOOST_TEST(reply.failure == "timeout");
    BOOST_TEST(took < std::chrono::seconds(5));
}

BOOST_AUTO_TEST_CASE(a_truncated_reply_is_a_failure) {
    BOOST_TEST(reply_to({.body = "", .headers = {}, .hang_up = true}).failure == "broken");
    BOOST_TEST(reply_to({.body = "0123456789", .headers = {}, .cut_body_after = 4}).failure ==
               "broken");
    BOOST_TEST(reply_to({.body = "", .headers = {}, .raw = "220 mail.example ESMTP\r\n"}).failure ==
               "broken");
}

BOOST_AUTO_TEST_CASE(connect_and_resolve_failures_are_distinguished) {
    const std::string gone = LoopbackServer(answering({})).url();
    BOOST_TEST(call_oauth(call_to(gone), kShort).failure == "connect");
    BOOST_TEST(call_oauth(call_to("https://unknown.invalid/token"), kShort).failure == "resolve");
}

BOOST_AUTO_TEST_CASE(a_secret_is_sent_in_cleartext_only_to_loopback) {
    for (const std::string url :
         {"http://provider.example/token", "http://127.0.0.1.example/token",
          "http://127.0.0.1@provider.example/", "ftp://127.0.0.1/", "file:///etc/hostname", ""}) {
        const OAuthReply reply = call_oauth(call_to(url), kShort);
        BOOST_TEST(reply.failure == "insecure", url);
    }
}

BOOST_AUTO_TEST_CASE(the_certificate_must_be_from_a_trusted_authority_and_for_that_name) {
    const TlsReceiver receiver("localhost");
    const std::string port = std::to_string(receiver.port());
    OAuthRequest call = call_to("https://localhost:" + port + "/token");
    BOOST_TEST(call_oauth(call, kShort).failure == "tls");  // the system's certificate authorities
    const TlsReceiver other("localhost");
    call.ca_file = other.ca_file();
    BOOST_TEST(call_oauth(call, kShort).failure == "tls");
    call.ca_file = "/nowhere/ca.pem";
    BOOST_TEST(call_oauth(call, kShort).failure == "tls");
    call.ca_file = receiver.ca_file();
    BOOST_TEST(call_oauth(call, kShort).status == 200);
    call.url =
        "https://127.0.0.1:" + port + "/token";  // a name that the certificate does not include
    BOOST_TEST(call_oauth(call, kShort).failure == "tls");
}

BOOST_AUTO_TEST_SUITE_END()
