// http/message.hpp and process/metrics.hpp: methods by name, which address identifies a client, and
// the counts of replies.
#include "http/message.hpp"

#include "process/metrics.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using muster::http::Method;
using muster::http::method_of;
using muster::http::names_prefetch;
using muster::process::Metrics;

namespace {

bool has_line(const Metrics& metrics, const std::string& line) {
    return ("\n" + metrics.text()).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(message)

BOOST_AUTO_TEST_CASE(a_method_is_parsed_only_from_its_exact_name) {
    const std::vector<std::pair<Method, std::string_view>> table = {
        {Method::Get, "GET"},        {Method::Post, "POST"},     {Method::Patch, "PATCH"},
        {Method::Put, "PUT"},        {Method::Delete, "DELETE"}, {Method::Head, "HEAD"},
        {Method::Options, "OPTIONS"}};
    for (const auto& [method, text] : table) {
        BOOST_TEST(text_of(method) == text);
        BOOST_TEST(method_of(text) == method, text);
    }
    for (const std::string_view text : {"", "get", "GET ", "BREW", "OTHER", "CONNECT"}) {
        BOOST_TEST(method_of(text) == Method::Other, text);
    }
}

BOOST_AUTO_TEST_CASE(a_repeated_header_is_found_among_the_parameters) {
    using muster::http::repeated_headers;
    using Names = std::vector<std::string_view>;
    const Names once = {"CONTENT_TYPE",
                        "HTTP_CONTENT_TYPE",
                        "HTTP_IDEMPOTENCY_KEY",
                        "HTTP_X_EXPECT_ORGANIZATION",
                        "HTTP_IDEMPOTENCY_KEYS",
                        "HTTP_COOKIE",
                        "HTTP_COOKIE"};
    BOOST_TEST((repeated_headers(once) == Names{}));
    const Names twice = {"HTTP_X_EXPECT_ORGANIZATION", "HTTP_IDEMPOTENCY_KEY",
                         "HTTP_CONTENT_TYPE",          "HTTP_X_EXPECT_ORGANIZATION",
                         "HTTP_X_ORGANIZATION",        "HTTP_X_ORGANIZATION",
                         "HTTP_IDEMPOTENCY_KEY",       "HTTP_CONTENT_TYPE"};
    BOOST_TEST((repeated_headers(twice) == Names{"Content-Type", "Idempotency-Key",
                                                 "X-Expect-Organization", "X-Organization"}));
}

BOOST_AUTO_TEST_CASE(a_prefetch_is_named_with_or_without_parameters) {
    for (const char* value : {"prefetch", "Prefetch", " prefetch ", "prefetch;prerender",
                              "prefetch; anonymous-client-ip", "prefetch, prefetch"}) {
        BOOST_TEST(names_prefetch(value), value);
    }
    for (const char* value : {"", "prefetcher", "preview", "x;prefetch"}) {
        BOOST_TEST(!names_prefetch(value), value);
    }
}

BOOST_AUTO_TEST_CASE(a_cookie_is_found_by_its_whole_name) {
    using muster::http::cookie_value;
    BOOST_TEST(cookie_value("one=1", "one") == "1");
    BOOST_TEST(cookie_value("a=x; one=1=2 ;two=2", "one") == "1=2");
    BOOST_TEST(cookie_value("one=first; one=second", "one") == "first");
    for (const char* without : {"", "one", "; ;", "One=1", "x-one=1", "one1=1", "x=one=1"}) {
        BOOST_TEST(cookie_value(without, "one") == "", without);
    }
}

BOOST_AUTO_TEST_CASE(a_client_is_an_ipv4_address_or_the_first_half_of_an_ipv6_address) {
    using muster::http::network_of;
    BOOST_TEST(network_of("192.0.2.1") == "192.0.2.1");
    BOOST_TEST(network_of("192.0.2.1") != network_of("192.0.2.2"));
    const std::string home = network_of("2001:db8:1:2::1");
    BOOST_TEST(home.size() == 8U);
    for (const char* same :
         {"2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:0DB8:0001:0002::", "2001:db8:1:2::9"}) {
        BOOST_TEST(network_of(same) == home, same);
    }
    for (const char* other :
         {"2001:db8:1:3::1", "2001:db8::1", "::1", "fe80::1", "192.0.2.1", "", "x"}) {
        BOOST_TEST(network_of(other) != home, other);
    }
}

BOOST_AUTO_TEST_CASE(an_ipv4_mapped_ipv6_address_counts_as_its_ipv4_client) {
    using muster::http::network_of;
    BOOST_TEST(network_of("::ffff:192.0.2.1") != network_of("::ffff:192.0.2.2"));
    BOOST_TEST(network_of("::ffff:192.0.2.1") != network_of("::1"));
    BOOST_TEST(network_of("::ffff:c000:201") == network_of("::ffff:192.0.2.1"));
}

BOOST_AUTO_TEST_CASE(requests_are_counted_by_operation_and_status_class) {
    Metrics metrics({"first", "second"});
    metrics.count(0, 200, 10);
    metrics.count(0, 204, 10);
    metrics.count(0, 404, 10);
    metrics.count(1, 503, 10);
    metrics.count(Metrics::kNoOperation, 404, 10);
    BOOST_TEST(has_line(metrics, R"(muster_requests_total{operation="first",status="2xx"} 2)"));
    BOOST_TEST(has_line(metrics, R"(muster_requests_total{operation="first",status="4xx"} 1)"));
    BOOST_TEST(has_line(metrics, R"(muster_requests_total{operation="second",status="5xx"} 1)"));
    BOOST_TEST(has_line(metrics, R"(muster_requests_total{operation="second",status="2xx"} 0)"));
    BOOST_TEST(has_line(metrics, R"(muster_requests_total{operation="none",status="4xx"} 1)"));
}

BOOST_AUTO_TEST_CASE(times_fall_into_growing_buckets) {
    Metrics metrics({"first"});
    for (const std::int64_t microseconds : {0, 1'000, 1'001, 9'000'000}) {
        metrics.count(0, 200, microseconds);
    }
    const std::string bucket = R"(muster_request_seconds_bucket{operation="first",le=")";
    BOOST_TEST(has_line(metrics, bucket + "0.001\"} 2"));
    BOOST_TEST(has_line(metrics, bucket + "0.0025\"} 3"));
    BOOST_TEST(has_line(metrics, bucket + "5\"} 3"));
    BOOST_TEST(has_line(metrics, bucket + "+Inf\"} 4"));
    BOOST_TEST(has_line(metrics, R"(muster_request_seconds_count{operation="first"} 4)"));
    BOOST_TEST(has_line(metrics, R"(muster_request_seconds_sum{operation="first"} 9.002001)"));
}

BOOST_AUTO_TEST_CASE(database_operations_are_counted) {
    Metrics metrics({});
    metrics.count_database(3, 1);
    metrics.count_database(2, 0);
    BOOST_TEST(has_line(metrics, "muster_db_statements_total 5"));
    BOOST_TEST(has_line(metrics, "muster_db_reruns_total 1"));
    BOOST_CHECK_THROW(Metrics(std::vector<std::string_view>(257, "x")), std::length_error);
}

BOOST_AUTO_TEST_CASE(every_line_of_the_metrics_is_a_comment_or_a_sample) {
    const Metrics metrics({"first"});
    const std::string text = metrics.text();
    BOOST_TEST(text.ends_with('\n'));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        const bool is_good = line.starts_with("# HELP ") || line.starts_with("# TYPE ") ||
                             (line.starts_with("muster_") && line.find(' ') != std::string::npos);
        BOOST_TEST(is_good, line);
        at = end + 1;
    }
}

BOOST_AUTO_TEST_SUITE_END()
