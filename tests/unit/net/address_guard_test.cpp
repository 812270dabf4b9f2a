// net/address_guard.hpp: which addresses are public, tested at both edges of every range that is
// not public.
#include "net/address_guard.hpp"

#include "print.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

using namespace muster::net;

namespace {

const char* const kPublic[] = {
    "1.1.1.1",           "8.8.8.8",        "9.255.255.255",   "11.0.0.0",        "93.184.216.34",
    "100.63.255.255",    "100.128.0.0",    "126.255.255.255", "128.0.0.0",       "169.253.255.255",
    "169.255.0.0",       "172.15.255.255", "172.32.0.0",      "191.255.255.255", "192.0.1.0",
    "192.0.3.0",         "192.31.195.255", "192.31.197.0",    "192.52.192.255",  "192.52.194.0",
    "192.88.98.255",     "192.88.100.0",   "192.167.255.255", "192.169.0.0",     "192.175.47.255",
    "192.175.49.0",      "198.17.255.255", "198.20.0.0",      "198.51.99.255",   "198.51.101.0",
    "203.0.112.255",     "203.0.114.0",    "223.255.255.255", "2001:200::",      "2001:db7:ffff::",
    "2001:db9::",        "2003::",         "2606:4700::1111", "2620:4f:7fff::",  "2620:4f:8001::",
    "2a00:1450:4001::1", "3ffd::",         "3fff:1000::",     "::ffff:8.8.8.8",  "::ffff:808:808",
};

const char* const kSpecial[] = {
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.31.196.0",
    "192.31.196.255",
    "192.52.193.0",
    "192.52.193.255",
    "192.88.99.0",
    "192.88.99.255",
    "192.168.0.0",
    "192.168.255.255",
    "192.175.48.0",
    "192.175.48.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.254",
    "255.255.255.255",
    // Mapped to IPv6 (IPv4-mapped), in any notation.
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    // Unspecified, v4-compatible, v4-translated, NAT64, discard.
    "::",
    "::2",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "100::",
    "100::1",
    "100:0:0:1::",
    "1fff:ffff::",
    // Protocol assignments (Teredo, benchmarks, ORCHID), documentation, 6to4, AS112.
    "2001::",
    "2001::7f00:1",
    "2001:1::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1ff:ffff::",
    "2001:db8::",
    "2001:db8:ffff::1",
    "2002::",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2002:ffff::",
    "2620:4f:8000::",
    "2620:4f:8000:ffff::",
    "3ffe::1",
    "3fff::",
    "3fff:fff:ffff::",
    "4000::",
    "5f00::",
    "5f00::1",
    "fc00::",
    "fd00:ec2::254",
    "fdff:ffff::",
    "fe00::",
    "fe80::1",
    "febf::",
    "fec0::1",
    "feff::",
    "ff00::",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
};

const char* const kLoopback[] = {
    "127.0.0.0", "127.0.0.1",        "127.1.2.3",     "127.255.255.255",
    "::1",       "::ffff:127.0.0.1", "::ffff:7f00:1",
};

IpAddress parsed(const std::string& text) {
    const auto address = IpAddress::parse(text);
    BOOST_REQUIRE_MESSAGE(address, text);
    return *address;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(net_address_guard)

BOOST_AUTO_TEST_CASE(only_addresses_of_internet_hosts_are_public) {
    for (const char* text : kPublic) BOOST_TEST(reach_of(parsed(text)) == Reach::Public, text);
    for (const char* text : kSpecial) BOOST_TEST(reach_of(parsed(text)) == Reach::Special, text);
    for (const char* text : kLoopback) BOOST_TEST(reach_of(parsed(text)) == Reach::Loopback, text);
}

BOOST_AUTO_TEST_CASE(an_address_is_parsed_only_in_its_full_form) {
    for (const char* text :
         {"", "1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "256.1.1.1", "1.2.3.4.5", "1.2.3.4 ",
          "[::1]", "::1%lo", "fe80::1%eth0", "1::2::3", "localhost"}) {
        BOOST_TEST(!IpAddress::parse(text), text);
    }
    BOOST_TEST(!IpAddress::parse(std::string("127.0.0.1\0x", 11)));
}

BOOST_AUTO_TEST_CASE(an_address_is_printed_as_it_is_parsed) {
    for (const char* text : {"93.184.216.34", "0.0.0.0", "2606:4700::1111", "::1", "::"})
        BOOST_TEST(parsed(text).text() == text);
    BOOST_TEST(parsed("::ffff:8.8.8.8").text() == "8.8.8.8");
    BOOST_TEST(parsed("::FFFF:808:808").text() == "8.8.8.8");
    BOOST_TEST(parsed("::ffff:8.8.8.8") == parsed("8.8.8.8"));
}

BOOST_AUTO_TEST_CASE(a_socket_address_contains_the_address) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    inet_pton(AF_INET, "10.1.2.3", &v4.sin_addr);
    sockaddr_storage storage{};
    std::memcpy(&storage, &v4, sizeof v4);
    const auto* address = reinterpret_cast<const sockaddr*>(&storage);
    BOOST_TEST(IpAddress::of(address, sizeof v4) == parsed("10.1.2.3"));
    BOOST_TEST(!IpAddress::of(address, sizeof v4 - 1));

    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &v6.sin6_addr);
    std::memcpy(&storage, &v6, sizeof v6);
    BOOST_TEST(IpAddress::of(address, sizeof v6) == parsed("127.0.0.1"));
    BOOST_TEST(!IpAddress::of(address, sizeof v4));

    storage.ss_family = AF_UNIX;
    BOOST_TEST(!IpAddress::of(address, sizeof storage));
}

BOOST_AUTO_TEST_SUITE_END()
