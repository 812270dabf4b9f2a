// net/http_client.hpp: the libcurl wrapper against real sockets.
#include "net/http_client.hpp"

#include "unit/client/loopback_server.hpp"

#include "print.hpp"

using namespace muster::net;
using muster::test::LoopbackServer;
using muster::test::ServedRequest;
using muster::test::ServedResponse;

namespace {

ServedResponse echo(const ServedRequest& request) {
    ServedResponse response;
    response.status = 201;
    response.headers = {{"X-Request-Id", " abc "}, {"Location", "/there"}};
    response.body = request.method + " " + request.path + "\n";
    for (const auto& [name, value] : request.headers) response.body += name + "=" + value + "\n";
    response.body += "\n" + request.body;
    return response;
}

HttpRequest request_to(const LoopbackServer& server, const std::string& path) {
    HttpRequest request;
    request.url = server.url() + path;
    return request;
}

constexpr const char* kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

// A reply that does not end.
ServedResponse endless(const std::string& start, const std::string& repeated) {
    ServedResponse response;
    response.raw = start;
    while (response.endless.size() < 65'536) response.endless += repeated;
    return response;
}

// A body in chunks of one byte.
std::string in_chunks(const std::string& body, const std::string& size) {
    std::string text;
    for (const char byte : body) text.append(size).append("\r\n").append(1, byte).append("\r\n");
    return text + "0\r\n\r\n";
}

TransportFailure failure_of(HttpClient& client, const HttpRequest& request,
                            const HttpClient::BodySink* sink = nullptr) {
    try {
        static_cast<void>(sink == nullptr ? client.perform(request)
                                          : client.download(request, *sink));
    } catch (const TransportError& error) {
        return error.failure();
    }
    throw std::runtime_error("the call succeeded");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(net_http_client)

BOOST_AUTO_TEST_CASE(a_request_is_sent_as_given_and_the_reply_is_complete) {
    const LoopbackServer server(echo);
    HttpClient client({});
    HttpRequest request = request_to(server, "/path?x=1");
    request.method = "POST";
    request.body = "{\"a\":1}";
    request.headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}};
    const HttpResponse response = client.perform(request);
    BOOST_TEST(response.status == 201);
    BOOST_TEST(response.header("x-request-id") == "abc");
    BOOST_TEST(response.header("x-other") == "");
    BOOST_TEST(response.body.starts_with("POST /path?x=1\n"));
    BOOST_TEST(response.body.find("content-type=application/json\n") != std::string::npos);
    BOOST_TEST(response.body.find("x-empty=\n") != std::string::npos);
    BOOST_TEST(response.body.find("expect=") == std::string::npos);
    BOOST_TEST(response.body.ends_with("\n\n{\"a\":1}"));
}

BOOST_AUTO_TEST_CASE(one_connection_serves_many_requests_of_all_methods) {
    const LoopbackServer server(echo);
    HttpClient client({});
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "GET"}) {
        HttpRequest request = request_to(server, "/");
        request.method = method;
        const std::string body = client.perform(request).body;
        BOOST_TEST(body.starts_with(std::string(method) + " /\n"));
        BOOST_TEST(body.find("content-type") == std::string::npos);
    }
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(redirects_are_returned_and_not_followed) {
    const LoopbackServer server([](const ServedRequest&) {
        return ServedResponse{.status = 302, .body = "", .headers = {{"Location", "/elsewhere"}}};
    });
    HttpClient client({});
    const HttpResponse response = client.perform(request_to(server, "/"));
    BOOST_TEST(response.status == 302);
    BOOST_TEST(response.header("location") == "/elsewhere");
}

BOOST_AUTO_TEST_CASE(a_body_over_the_cap_is_a_permanent_failure) {
    const LoopbackServer server([](const ServedRequest&) {
        return ServedResponse{.body = std::string(2000, 'x'), .headers = {}};
    });
    HttpSettings settings;
    settings.max_body = 1999;
    HttpClient client(settings);
    BOOST_CHECK(failure_of(client, request_to(server, "/")) == TransportFailure::TooLarge);
    settings.max_body = 2000;
    HttpClient roomy(settings);
    BOOST_TEST(roomy.perform(request_to(server, "/")).body.size() == 2000U);
    BOOST_TEST(!TransportError(TransportFailure::TooLarge, "").is_transient());
    BOOST_TEST(TransportError(TransportFailure::Broken, "").is_transient());
}

BOOST_AUTO_TEST_CASE(a_download_may_exceed_the_limit_and_error_bodies_are_kept_separate) {
    const LoopbackServer server([](const ServedRequest& request) {
        ServedResponse response;
        response.status = request.path == "/good" ? 200 : 409;
        response.body = std::string(100'000, 'x');
        return response;
    });
    HttpSettings settings;
    settings.max_body = 200'000;
    HttpClient client(settings);
    std::size_t bytes = 0;
    const auto sink = [&bytes](std::string_view piece) { bytes += piece.size(); };
    BOOST_TEST(client.download(request_to(server, "/good"), sink).body == "");
    BOOST_TEST(bytes == 100'000U);
    BOOST_TEST(client.download(request_to(server, "/bad"), sink).body.size() == 100'000U);
    BOOST_TEST(bytes == 100'000U);
}

BOOST_AUTO_TEST_CASE(header_lines_without_end_are_a_permanent_failure) {
    for (const auto& [start, line] :
         {std::pair<std::string, std::string>{kChunkedHead + std::string("0\r\n"), "x: y\r\n"},
          {"HTTP/1.1 200 OK\r\n", "X-More: of it\r\n"},
          {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}}) {
        const LoopbackServer server([&](const ServedRequest&) { return endless(start, line); });
        HttpSettings settings;
        settings.total_seconds = 2;
        HttpClient client(settings);
        BOOST_TEST((failure_of(client, request_to(server, "/")) == TransportFailure::TooLarge),
                   start);
    }
}

BOOST_AUTO_TEST_CASE(a_chunk_extension_without_end_is_a_permanent_failure) {
    const LoopbackServer server(
        [](const ServedRequest&) { return endless(kChunkedHead + std::string("1;"), "x"); });
    HttpSettings settings;
    settings.total_seconds = 2;
    HttpClient client(settings);
    BOOST_TEST((failure_of(client, request_to(server, "/")) == TransportFailure::TooLarge));
    settings.stall_seconds = 2;
    HttpClient downloading(settings);
    const HttpClient::BodySink sink = [](std::string_view) {};
    BOOST_TEST(
        (failure_of(downloading, request_to(server, "/"), &sink) == TransportFailure::TooLarge));
}

BOOST_AUTO_TEST_CASE(a_body_in_tiny_chunks_is_complete) {
    const std::string body(200'000, 'x');
    for (const char* size : {"1", "00000001", "1;a=b"}) {
        const LoopbackServer server([&](const ServedRequest&) {
            ServedResponse response;
            response.raw = kChunkedHead + in_chunks(body, size);
            return response;
        });
        HttpClient client({});
        BOOST_TEST((client.perform(request_to(server, "/")).body == body), size);
        std::size_t bytes = 0;
        const auto sink = [&bytes](std::string_view piece) { bytes += piece.size(); };
        static_cast<void>(client.download(request_to(server, "/"), sink));
        BOOST_TEST(bytes == body.size(), size);
    }
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_sink_is_passed_on_and_the_client_keeps_working) {
    const LoopbackServer server(echo);
    HttpClient client({});
    const auto sink = [](std::string_view) { throw std::domain_error("disk full"); };
    BOOST_CHECK_THROW(static_cast<void>(client.download(request_to(server, "/"), sink)),
                      std::domain_error);
    BOOST_TEST(client.perform(request_to(server, "/")).status == 201);
}

BOOST_AUTO_TEST_CASE(failures_of_the_connection_are_distinguished) {
    const LoopbackServer server([](const ServedRequest& request) {
        if (request.path == "/hang")
            return ServedResponse{.body = "", .headers = {}, .hang_up = true};
        return ServedResponse{.body = "0123456789", .headers = {}, .cut_body_after = 4};
    });
    HttpClient client({});
    BOOST_CHECK(failure_of(client, request_to(server, "/hang")) == TransportFailure::Broken);
    BOOST_CHECK(failure_of(client, request_to(server, "/cut")) == TransportFailure::Broken);
    HttpRequest request;
    request.url = "file:///etc/hostname";
    BOOST_CHECK(failure_of(client, request) == TransportFailure::BadUrl);
    request.url = "http://127.0.0.1:1/";
    BOOST_CHECK(failure_of(client, request) == TransportFailure::Connect);
}

BOOST_AUTO_TEST_CASE(a_silent_server_runs_into_the_time_limit) {
    std::mutex gate;
    std::unique_lock hold(gate);
    const LoopbackServer server([&gate](const ServedRequest&) {
        const std::lock_guard wait(gate);
        return ServedResponse{};
    });
    HttpSettings settings;
    settings.total_seconds = 1;
    HttpClient client(settings);
    BOOST_CHECK(failure_of(client, request_to(server, "/")) == TransportFailure::Timeout);
    hold.unlock();
}

BOOST_AUTO_TEST_CASE(a_header_cannot_inject_another_one) {
    const LoopbackServer server(echo);
    HttpClient client({});
    HttpRequest request = request_to(server, "/");
    request.headers = {{"Authorization", "Bearer x\r\nX-Admin: 1"}};
    BOOST_CHECK_THROW(static_cast<void>(client.perform(request)), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
