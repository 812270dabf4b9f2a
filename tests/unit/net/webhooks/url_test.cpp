// net/webhooks/url.hpp: the notations of addresses that an endpoint must not use, and names
// resolved by a DNS server on the loopback.
#include "net/webhooks/url.hpp"

#include "unit/net/loopback_dns.hpp"

#include "print.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace muster;
using net::fault_in_webhook_url;
using net::UrlPolicy;
using test::knowing;
using test::LoopbackDns;

namespace {

// A DNS server without names: no test queries the resolver of the machine.
struct NoNames {
    LoopbackDns dns{knowing({})};
    UrlPolicy production{false, dns.address()};
    UrlPolicy loopback{true, dns.address()};
};

struct BadUrl {
    const char* url;
    const char* reason;  // a part of it
};

const BadUrl kBadUrls[] = {
    // Schemes.
    {"", "https://"},
    {"good.example", "https://"},
    {"//good.example/", "https://"},
    {"https:good.example", "https://"},
    {"https:/127.0.0.1/", "https://"},
    {"https:///127.0.0.1/", "no host"},
    {"http://good.example/", "https://"},
    {"http://93.184.216.34/", "https://"},
    {"ftp://good.example/", "https://"},
    {"file:///etc/passwd", "https://"},
    {"gopher://good.example/", "https://"},
    {"javascript:alert(1)", "https://"},
    {"httpss://good.example/", "https://"},
    {" https://good.example/", "spaces"},
    // Characters.
    {"https://good.example/ x", "spaces"},
    {"https://good.example/\tx", "ASCII"},
    {"https://127.0\t.0.1/", "ASCII"},
    {"https://good.example\r\nHost: evil/", "ASCII"},
    {"https://good.example/\x01", "ASCII"},
    {"https://good.example/\x7f", "ASCII"},
    {"https://m\xc3\xbcster.example/", "ASCII"},
    {"https://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", "ASCII"},  // fullwidth 127
    {"https://127\xe3\x80\x82"
     "0.0.1/",
     "ASCII"},                                     // ideographic full stop
    {"https://\xe2\x91\xa0.example/", "ASCII"},    // circled 1
    {"https://\xf0\x9d\x9f\xad.1.1.1/", "ASCII"},  // mathematical 1
    {"https://127.0.0.1\\@good.example/", "backslash"},
    {"https:\\\\good.example/", "backslash"},
    // Users, fragments.
    {"https://good@127.0.0.1/", "user"},
    {"https://user:pw@good.example/", "user"},
    {"https://@good.example/", "user"},
    {"https://good.example:pw@127.0.0.1/", "user"},
    {"https://good.example#@127.0.0.1/", "fragment"},
    {"https://good.example/#", "fragment"},
    // Hosts.
    {"https://", "no host"},
    {"https:///", "no host"},
    {"https://?x", "no host"},
    {"https://:443/", "valid"},
    {"https://./", "host name"},
    {"https://../", "host name"},
    {"https://good..example/", "host name"},
    {"https://.good.example/", "host name"},
    {"https://good.example../", "host name"},
    {"https://go!od.example/", ""},
    {"https://go,od.example/", ""},
    {"https://go'od.example/", ""},
    {"https://%31%32%37.0.0.1/", "percent"},
    {"https://%6c%6f%63alhost/", "percent"},
    {"https://127.0.0.1%00.good.example/", "percent"},
    {"https://127.0.0.1%2f@good.example/", "user"},
    {"https://[::1", ""},
    {"https://[]/", ""},
    {"https://[1::2::3]/", ""},
    {"https://[v1.good]/", ""},
    {"https://[fe80::1%25eth0]/", "percent"},
    {"https://[fe80::1%eth0]/", "percent"},
    // Ports.
    {"https://good.example:0/", "port"},
    {"https://good.example:65536/", ""},
    {"https://good.example:99999999999/", ""},
    {"https://good.example:-1/", ""},
    {"https://good.example:x/", ""},
    {"https://good.example:80:443/", ""},
    // Loopback in its different notations.
    {"https://localhost/", "public"},
    {"https://LOCALHOST/", "public"},
    {"https://localhost./", "public"},
    {"https://foo.localhost/", "public"},
    {"https://127.0.0.1/", "public"},
    {"https://127.0.0.1:8443/", "public"},
    {"https://127.255.255.254/", "public"},
    {"https://127.0.0.1./", "host name"},
    {"https://127.1./", "host name"},
    {"https://127.1/", "public"},
    {"https://127.0.1/", "public"},
    {"https://2130706433/", "public"},
    {"https://0x7f000001/", "public"},
    {"https://0x7F.1/", "public"},
    {"https://0x7f.0x0.0x0.0x1/", "public"},
    {"https://0177.0.0.1/", "public"},
    {"https://017700000001/", "public"},
    {"https://0/", "public"},
    {"https://0.0.0.0/", "public"},
    {"https://[::]/", "public"},
    {"https://[::1]/", "public"},
    {"https://[0:0:0:0:0:0:0:1]/", "public"},
    {"https://[::ffff:127.0.0.1]/", "public"},
    {"https://[::ffff:7f00:1]/", "public"},
    {"https://[::FFFF:7F00:0001]/", "public"},
    {"https://[::127.0.0.1]/", "public"},
    {"https://[::ffff:0:127.0.0.1]/", "public"},
    {"https://[64:ff9b::7f00:1]/", "public"},
    {"https://[64:ff9b:1::7f00:1]/", "public"},
    {"https://[2002:7f00:1::]/", "public"},
    {"https://[2001:0:7f00:1::]/", "public"},
    // Numbers that curl does not convert but other programs may.
    {"https://4294967296/", "host name"},
    {"https://256.256.256.256/", "host name"},
    {"https://1.2.3.4.5/", "host name"},
    {"https://08.1/", "host name"},
    {"https://0x7f.0.0.0x1g/", "host name"},
    {"https://127.0.0.0x100000001/", "host name"},
    // Other addresses that are not public.
    {"https://10.0.0.1/", "public"},
    {"https://192.168.1.1/", "public"},
    {"https://172.16.0.1/", "public"},
    {"https://169.254.169.254/latest/meta-data/", "public"},
    {"https://2852039166/", "public"},  // the same
    {"https://0xa9fea9fe/", "public"},  // the same
    {"https://[::ffff:169.254.169.254]/", "public"},
    {"https://[fd00:ec2::254]/", "public"},
    {"https://[fe80::1]/", "public"},
    {"https://100.64.0.1/", "public"},
    {"https://224.0.0.1/", "public"},
    {"https://255.255.255.255/", "public"},
    {"https://[ff02::1]/", "public"},
    {"https://[2001:db8::1]/", "public"},
};

const char* const kGoodUrls[] = {
    "https://good.example",
    "https://good.example/",
    "HTTPS://GOOD.Example/Hook?x=1&y=@z:%20",
    "https://good.example./hook",
    "https://good.example:8443/hook",
    "https://good.example:1/",
    "https://good.example:65535/",
    "https://good_name.a-b.example/",
    "https://xn--mnster-3ya.example/",
    "https://1.example/",
    "https://127.0.0.1.example/",
    "https://localhost.example/",
    "https://a.b/https://127.0.0.1/",
    "https://good.example?u=https://127.0.0.1/",
    "https://93.184.216.34/",
    "https://93.184.216.34:444/x",
    "https://1572395042/",  // 93.184.216.34
    "https://[2606:4700::1111]/",
    "https://[2606:4700::1111]:8443/",
    "https://[::ffff:93.184.216.34]/",
};

std::string fault(const std::string& url, const UrlPolicy& policy) {
    return fault_in_webhook_url(url, policy).value_or("(none)");
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(net_webhook_url, NoNames)

BOOST_AUTO_TEST_CASE(a_url_to_an_internal_address_is_rejected_in_any_notation) {
    for (const BadUrl& bad : kBadUrls) {
        const std::string reason = fault(bad.url, production);
        BOOST_TEST(reason != "(none)", bad.url);
        BOOST_TEST(reason.find(bad.reason) != std::string::npos, bad.url << ": " << reason);
    }
    BOOST_TEST(fault(std::string("https://good.example\0.evil/", 27), production) != "(none)");
    BOOST_TEST(fault("https://" + std::string(64, 'a') + ".example/", production) != "(none)");
    std::string name = "a";
    while (name.size() < 254) name += ".a";
    BOOST_TEST(fault("https://" + name + "/", production) != "(none)");
}

BOOST_AUTO_TEST_CASE(any_other_https_url_is_accepted) {
    for (const char* url : kGoodUrls) BOOST_TEST(fault(url, production) == "(none)", url);
}

BOOST_AUTO_TEST_CASE(only_loopback_is_allowed_additionally_by_the_policy) {
    for (const char* url :
         {"http://127.0.0.1:8080/hook", "http://127.9.9.9/", "http://[::1]:8080/",
          "http://localhost:8080/", "http://127.1/", "https://127.0.0.1/", "https://[::1]/",
          "https://localhost/", "https://[::ffff:127.0.0.1]/"}) {
        BOOST_TEST(fault(url, loopback) == "(none)", url);
    }
    for (const char* url :
         {"http://good.example/", "http://93.184.216.34/", "http://10.0.0.1/", "https://10.0.0.1/",
          "http://0/", "http://[::]/", "https://169.254.169.254/", "http://foo.localhost/",
          "http://user@127.0.0.1/", "ftp://127.0.0.1/"}) {
        BOOST_TEST(fault(url, loopback) != "(none)", url);
    }
}

BOOST_AUTO_TEST_CASE(a_name_with_one_forbidden_address_is_rejected) {
    const LoopbackDns names(knowing({
        {"good.example", {"93.184.216.34", "2606:4700::1111"}},
        {"private.example", {"10.0.0.1"}},
        {"mixed.example", {"93.184.216.34", "192.168.1.1"}},
        {"mixed6.example", {"93.184.216.34", "fd00::1"}},
        {"mapped.example", {"::ffff:169.254.169.254"}},
        {"mixed-loopback.example", {"127.0.0.1", "10.0.0.1"}},
        {"loopback.example", {"127.0.0.1"}},
    }));
    const UrlPolicy strict{false, names.address()};
    const UrlPolicy lenient{true, names.address()};
    BOOST_TEST(fault("https://good.example/", strict) == "(none)");
    BOOST_TEST(fault("https://good.example./", strict) == "(none)");
    for (const char* url : {"https://private.example/", "https://mixed.example/",
                            "https://mixed6.example/", "https://mapped.example/",
                            "https://mixed-loopback.example/", "https://mixed.example./"}) {
        BOOST_TEST(fault(url, strict).find("public") != std::string::npos, url);
        BOOST_TEST(fault(url, lenient).find("public") != std::string::npos, url);
    }
    BOOST_TEST(fault("https://loopback.example/", strict) != "(none)");
    BOOST_TEST(fault("https://loopback.example/", lenient) == "(none)");
    BOOST_TEST(fault("http://loopback.example/", lenient) != "(none)");
    BOOST_TEST(names.questions("good.example") == 4);  // A and AAAA each time
}

BOOST_AUTO_TEST_CASE(a_name_that_does_not_resolve_yet_is_accepted) {
    BOOST_TEST(fault("https://not-yet.example/", production) == "(none)");
    BOOST_TEST(dns.questions("not-yet.example") == 2);
}

BOOST_AUTO_TEST_CASE(a_name_is_resolved_without_search_domains) {
    setenv("LOCALDOMAIN", "corp.example", 1);
    const LoopbackDns names(knowing({{"intranet.corp.example", {"10.0.0.1"}}}));
    BOOST_TEST(fault("https://intranet/", {false, names.address()}) == "(none)");
    unsetenv("LOCALDOMAIN");
    BOOST_TEST(names.questions("intranet.corp.example") == 0);
    BOOST_TEST(names.questions("intranet") == 2);
}

BOOST_AUTO_TEST_CASE(unresponsive_name_servers_do_not_block) {
    const LoopbackDns silent([](const auto&, int) { return std::nullopt; });
    const auto began = std::chrono::steady_clock::now();
    BOOST_TEST(fault("https://good.example/", {false, silent.address()}) == "(none)");
    const auto took = std::chrono::steady_clock::now() - began;
    BOOST_TEST(took >= std::chrono::milliseconds(1500));
    BOOST_TEST(took < std::chrono::seconds(3));
    BOOST_TEST(silent.questions("good.example") >= 2);
}

BOOST_AUTO_TEST_CASE(without_a_lookup_the_rest_of_the_url_is_still_checked) {
    const LoopbackDns names([](const auto&, int) { return std::vector<std::string>{"127.0.0.1"}; });
    const net::UrlPolicy policy{false, names.address()};
    BOOST_TEST(!fault_in_webhook_url("https://good.example/", policy, net::LookUp::No));
    BOOST_TEST(names.questions("good.example") == 0);
    BOOST_TEST(fault_in_webhook_url("https://10.0.0.1/", policy, net::LookUp::No).has_value());
    BOOST_TEST(fault_in_webhook_url("https://localhost/", policy, net::LookUp::No).has_value());
    BOOST_TEST(fault_in_webhook_url("https://good.example/", policy).has_value());
}

BOOST_AUTO_TEST_CASE(a_lost_answer_is_queried_again) {
    const LoopbackDns names([](const auto&, int nth) -> std::optional<std::vector<std::string>> {
        if (nth == 0) return std::nullopt;
        return std::vector<std::string>{"10.0.0.1"};
    });
    BOOST_TEST(fault("https://good.example/", {false, names.address()}) != "(none)");
}

BOOST_AUTO_TEST_CASE(invalid_name_servers_are_an_error) {
    BOOST_CHECK_THROW(static_cast<void>(fault("https://good.example/", {false, "nonsense"})),
                      std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()
