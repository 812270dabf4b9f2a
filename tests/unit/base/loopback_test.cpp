// base/loopback.hpp: one rule for settings, the importer, mail and webhooks.
#include "base/loopback.hpp"

#include "print.hpp"

#include <string_view>

using muster::authority_of;
using muster::is_loopback;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(loopback)

BOOST_AUTO_TEST_CASE(the_authority_of_a_url_ends_at_its_path_query_or_fragment) {
    BOOST_TEST(authority_of("https://a.example") == "a.example");
    BOOST_TEST(authority_of("https://a.example:8443/v1/users") == "a.example:8443");
    BOOST_TEST(authority_of("https://[::1]:443?x=/") == "[::1]:443");
    BOOST_TEST(authority_of("http://user@a.example#part") == "user@a.example");
    for (const auto text :
         {"", "a.example", "a.example/x", "https:/a.example", "https://", "https:///x"}) {
        BOOST_TEST(authority_of(text) == "", text);
    }
}

BOOST_AUTO_TEST_CASE(these_hosts_are_loopback) {
    for (const auto host : {"localhost", "LocalHost", "localhost:8080", "127.0.0.1", "127.0.0.1:25",
                            "127.255.255.254", "127.0.1.1:0", "[::1]", "[::1]:443", "::1",
                            "[0:0:0:0:0:0:0:1]", "0:0:0:0:0:0:0:1"}) {
        BOOST_TEST(is_loopback(host), host);
    }
}

BOOST_AUTO_TEST_CASE(these_hosts_are_not_loopback) {
    for (const auto host : {""sv,
                            ":80"sv,
                            "a.localhost"sv,
                            "localhost."sv,
                            "localhost.example"sv,
                            "127.example.com"sv,
                            "127.mail.example:25"sv,
                            "127.0.0.1.example"sv,
                            "127.1"sv,
                            "127.0.0.1."sv,
                            "127.0.0.256"sv,
                            "0127.0.0.1"sv,
                            "2130706433"sv,
                            "0.0.0.0"sv,
                            "126.255.255.255"sv,
                            "128.0.0.1"sv,
                            "10.0.0.1"sv,
                            "[::]"sv,
                            "[::2]"sv,
                            "[::1"sv,
                            "[::1]x"sv,
                            "[::ffff:127.0.0.1]"sv,
                            "::1:80"sv,
                            "localhost:x"sv,
                            "localhost:65536"sv,
                            "127.0.0.1:1@example.com"sv,
                            "user@localhost"sv,
                            "localhost/path"sv,
                            "127.0.0.1\0.example.com"sv,
                            " localhost"sv}) {
        BOOST_TEST(!is_loopback(host), host);
    }
}

BOOST_AUTO_TEST_SUITE_END()
