// rules/origins.hpp: which texts are origins, what a list may contain, and which origins it
// matches.
#include "rules/origins.hpp"

#include "print.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace muster::rules;

namespace {

std::string shown(const std::optional<std::string>& origin) {
    return origin.value_or("none");
}

// Texts that a browser never sends as Origin header and that a list rejects.
const std::vector<std::string> kNone = {
    "",
    std::string("https://[::1\0]", 14),
    "null",
    "*",
    "shop.example",
    "//shop.example",
    "https:shop.example",
    "https:/shop.example",
    "https:///shop.example",
    "https://",
    "https://:443",
    "ftp://shop.example",
    "file://",
    "javascript://shop.example",
    "httpss://shop.example",
    "xhttps://shop.example",
    " https://shop.example",
    "https://shop.example ",
    "https://shop.example/",
    "https://shop.example/path",
    "https://shop.example?q",
    "https://shop.example#f",
    "https://user@shop.example",
    "https://user:secret@shop.example",
    "https://shop.example@evil.test",
    "https://shop.example\\@evil.test",
    "https://shop.example:",
    "https://shop.example:0",
    "https://shop.example:65536",
    "https://shop.example:0443",
    "https://shop.example:+443",
    "https://shop.example:-1",
    "https://shop.example:4a",
    "https://shop.example:443:443",
    "https://shop.example:99999999999999999999",
    "https://shop.example.",
    "https://.shop.example",
    "https://shop..example",
    "https://-shop.example",
    "https://shop-.example",
    "https://sh%6fp.example",
    "https://m\u00fcnster.example",
    "https://shop\uff0eexample",
    "https://shop.example,https://other.example",
    "https://shop.example https://other.example",
    "https://shop.example\t",
    "https://shop\n.example",
    "https://shop.example\r\nX: y",
    "https://shop.ex\x01mple",
    "https://shop.ex\x7fmple",
    std::string("https://shop.example\0", 21),
    std::string("https://shop.example\0.evil.test", 31),
    std::string("\0", 1),
    "https://[]",
    "https://[::1",
    "https://::1",
    "https://[::1]x",
    "https://[::1]:",
    "https://[fe80::1%eth0]",
    "https://[.:1:2]",
    "https://[1:2]",
    "https://[:::]",
    "https://[shop.example]",
    "https://" + std::string(64, 'a') + ".example",
    "https://" + std::string(100'000, 'a'),
};

std::string host_of_bytes(std::size_t bytes) {
    std::string host;
    while (host.size() < bytes) host += std::string(49, 'a') + ".";
    return host.substr(0, bytes - 1) + "z";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(origins)

BOOST_AUTO_TEST_CASE(an_origin_is_stored_in_canonical_form) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"https://shop.example", "https://shop.example"},
        {"HTTPS://Shop.EXAMPLE", "https://shop.example"},
        {"https://shop.example:443", "https://shop.example"},
        {"http://shop.example:80", "http://shop.example"},
        {"http://shop.example:443", "http://shop.example:443"},
        {"https://shop.example:80", "https://shop.example:80"},
        {"https://shop.example:8443", "https://shop.example:8443"},
        {"https://shop.example:65535", "https://shop.example:65535"},
        {"http://localhost:3000", "http://localhost:3000"},
        {"https://xn--mnster-3ya.example", "https://xn--mnster-3ya.example"},
        {"https://a_b.example", "https://a_b.example"},
        {"http://127.0.0.1", "http://127.0.0.1"},
        {"http://[::1]", "http://[::1]"},
        {"http://[::1]:80", "http://[::1]"},
        {"https://[2001:DB8::A]:8443", "https://[2001:db8::a]:8443"},
    };
    for (const auto& [text, canonical] : table) {
        BOOST_TEST(shown(canonical_origin(text)) == canonical);
        BOOST_TEST(shown(canonical_origin(canonical)) == canonical);
        BOOST_TEST(shown(canonical_allowed_origin(text)) == canonical);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_origin_is_rejected_also_in_a_list) {
    for (const std::string& text : kNone) {
        BOOST_TEST(shown(canonical_origin(text)) == "none", text);
        BOOST_TEST(shown(canonical_allowed_origin(text)) == "none", text);
    }
    BOOST_TEST(shown(canonical_origin("https://*.shop.example")) == "none");
}

BOOST_AUTO_TEST_CASE(a_host_has_at_most_253_bytes) {
    const std::string longest = "https://" + host_of_bytes(253) + ":65535";
    BOOST_TEST(shown(canonical_origin(longest)) == longest);
    BOOST_TEST(longest.size() + 2 == kLongestAllowedOrigin);
    BOOST_TEST(shown(canonical_origin("https://" + host_of_bytes(254))) == "none");
}

BOOST_AUTO_TEST_CASE(a_list_allows_an_asterisk_as_the_first_label_of_a_domain) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"https://*.example.com", "https://*.example.com"},
        {"HTTPS://*.Example.COM:443", "https://*.example.com"},
        {"https://*.example.com:8443", "https://*.example.com:8443"},
        {"https://*.com", "none"},
        {"https://*.", "none"},
        {"https://*", "none"},
        {"http://*.example.com", "none"},
        {"https://*.*.example.com", "none"},
        {"https://a.*.example.com", "none"},
        {"https://*example.com", "none"},
        {"https://a*.example.com", "none"},
        {"https://*.example.com/", "none"},
        {"https://*.example.com.", "none"},
        {"https://*..example.com", "none"},
        {"https://*.user@example.com", "none"},
        {"https://*.[::1.2.3.4]", "none"},
        {"https://*.[.:1:2]", "none"},
        {"https://*.[::1]", "none"},
        {"*.example.com", "none"},
    };
    for (const auto& [text, canonical] : table) {
        BOOST_TEST(shown(canonical_allowed_origin(text)) == canonical, text);
    }
}

BOOST_AUTO_TEST_CASE(an_exact_entry_matches_only_itself) {
    const std::vector<std::string> list = {"https://other.example", "https://shop.example"};
    BOOST_TEST(is_allowed_origin(list, "https://shop.example"));
    for (const std::string_view origin :
         {"https://shop.example.evil.test", "https://evilshop.example", "https://evil.shop.example",
          "http://shop.example", "https://shop.example:8443", "https://shop.exampl", "https://shop",
          "null", "", "https://"}) {
        BOOST_TEST(!is_allowed_origin(list, origin), origin);
    }
    BOOST_TEST(!is_allowed_origin({}, "https://shop.example"));
}

BOOST_AUTO_TEST_CASE(an_asterisk_matches_exactly_one_label) {
    const std::vector<std::string> list = {"https://*.example.com"};
    const std::vector<std::string> ported = {"https://*.example.com:8443"};
    BOOST_TEST(is_allowed_origin(list, "https://shop.example.com"));
    BOOST_TEST(is_allowed_origin(ported, "https://shop.example.com:8443"));
    BOOST_TEST(!is_allowed_origin(ported, "https://shop.example.com"));
    for (const std::string_view origin :
         {"https://example.com", "https://.example.com", "https://a.b.example.com",
          "http://shop.example.com", "https://shop.example.com:8443", "https://shopexample.com",
          "https://shop.example.com.evil.test", "https://evil.test/.example.com",
          "https://evilexample.com", "https://shop.example.org"}) {
        BOOST_TEST(!is_allowed_origin(list, origin), origin);
    }
}

BOOST_AUTO_TEST_CASE(the_origin_of_a_referer_ends_before_its_path) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"https://shop.example/a/page?q#f", "https://shop.example"},
        {"https://shop.example", "https://shop.example"},
        {"HTTPS://Shop.Example:443/", "https://shop.example"},
        {"https://shop.example?x=https://other.example/", "https://shop.example"},
        {"https://shop.example#@evil.test/", "https://shop.example"},
        {"http://[::1]:8080/x", "http://[::1]:8080"},
        {"https://evil.test/https://shop.example/", "https://evil.test"},
        {"https://shop.example@evil.test/", "none"},
        {"https://shop.example\\@evil.test/", "none"},
        {"/page", "none"},
        {"shop.example/page", "none"},
        {"about:blank", "none"},
        {"data:text/html,https://shop.example/", "none"},
        {"", "none"},
        {"://", "none"},
    };
    for (const auto& [url, origin] : table) BOOST_TEST(shown(origin_of_url(url)) == origin, url);
}

BOOST_AUTO_TEST_SUITE_END()
