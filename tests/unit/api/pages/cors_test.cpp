// api/pages/cors.hpp: the origin of a request, and which origins are allowed.
#include "api/pages/cors.hpp"

#include "base/error.hpp"

#include "print.hpp"

#include <algorithm>

using namespace muster;
using http::Request;

namespace {

Request from(std::optional<std::string> origin, std::optional<std::string> referer = {},
             http::Method method = http::Method::Get) {
    Request request;
    request.method = method;
    request.origin = std::move(origin);
    request.referer = std::move(referer);
    return request;
}

bool is_let_in(const Request& request, const std::vector<std::string>& allowed) {
    rules::PublishableKey key;
    key.allowed_origins = allowed;
    try {
        api::require_origin(key, request);
        return true;
    } catch (const Error& error) {
        BOOST_TEST(error.code() == ErrorCode::OriginNotAllowed);
        return false;
    }
}

bool is_console(const std::string& console, const Request& request) {
    try {
        api::require_console(console, request);
        return true;
    } catch (const Error&) {
        return false;
    }
}

std::string header(const std::vector<http::Header>& headers, std::string_view name) {
    const auto found = std::find_if(headers.begin(), headers.end(),
                                    [&](const auto& header) { return header.first == name; });
    return found == headers.end() ? "" : found->second;
}

const std::vector<std::string> kShop = {"https://shop.example"};

}  // namespace

BOOST_AUTO_TEST_SUITE(cors)

BOOST_AUTO_TEST_CASE(the_origin_comes_from_the_origin_header_or_else_the_referer) {
    BOOST_TEST(is_let_in(from("https://shop.example"), kShop));
    BOOST_TEST(is_let_in(from({}, "https://shop.example/cart?step=2#end"), kShop));
    BOOST_TEST(!is_let_in(from({}, "https://evil.example/https://shop.example"), kShop));
    BOOST_TEST(!is_let_in(from({}, "https://shop.example@evil.example/"), kShop));
    BOOST_TEST(!is_let_in(from({}, {}), kShop));
}

BOOST_AUTO_TEST_CASE(an_origin_header_overrides_the_referer) {
    BOOST_TEST(!is_let_in(from("null", "https://shop.example/"), kShop));
    BOOST_TEST(!is_let_in(from("", "https://shop.example/"), kShop));
    BOOST_TEST(!is_let_in(from("https://evil.example", "https://shop.example/"), kShop));
    BOOST_TEST(is_let_in(from("https://shop.example", "https://evil.example/"), kShop));
}

BOOST_AUTO_TEST_CASE(scheme_and_port_are_part_of_the_origin_and_similar_hosts_do_not_match) {
    for (const char* origin :
         {"http://shop.example", "https://shop.example:8443", "https://shop.example.evil.example",
          "https://evilshop.example", "https://a.shop.example", "https://shop.example/",
          "https://shop.example https://shop.example", "https://shop.example.", "shop.example"}) {
        BOOST_TEST(!is_let_in(from(origin), kShop), origin);
    }
}

BOOST_AUTO_TEST_CASE(a_key_without_origins_rejects_every_page) {
    BOOST_TEST(!is_let_in(from("https://shop.example"), {}));
    BOOST_TEST(!is_let_in(from("https://shop.example"), {""}));
}

BOOST_AUTO_TEST_CASE(the_console_has_one_origin) {
    BOOST_TEST(is_console("https://console.example", from("https://console.example")));
    BOOST_TEST(is_console("https://console.example", from({}, "https://console.example/members")));
    BOOST_TEST(!is_console("https://console.example", from("https://a.console.example")));
    BOOST_TEST(!is_console("https://console.example", from({}, {})));
    // An invalid setting matches no request, including a request without an origin.
    BOOST_TEST(!is_console("nonsense", from({}, {})));
    BOOST_TEST(!is_console("nonsense", from("nonsense")));
}

BOOST_AUTO_TEST_CASE(a_change_by_the_console_needs_an_origin_header) {
    using http::Method;
    const std::string console = "https://console.example";
    for (const Method method : {Method::Post, Method::Put, Method::Patch, Method::Delete}) {
        BOOST_TEST(is_console(console, from(console, {}, method)));
        BOOST_TEST(!is_console(console, from({}, console + "/members", method)));
    }
    BOOST_TEST(is_console(console, from({}, console + "/members", Method::Head)));
}

BOOST_AUTO_TEST_CASE(a_get_by_the_console_needs_only_the_browsers_word_for_its_own_page) {
    using http::Method;
    const std::string console = "https://console.example";
    const auto fetched = [&](const char* site, Request request) {
        request.fetch_site = site;
        return is_console(console, request);
    };
    for (const Method method : {Method::Get, Method::Head}) {
        BOOST_TEST(fetched("same-origin", from({}, {}, method)));
        BOOST_TEST(!fetched("same-origin", from("https://evil.example", {}, method)));
    }
    BOOST_TEST(!fetched("same-origin", from({}, {}, Method::Post)));
    BOOST_TEST(fetched("same-origin", from(console, {}, Method::Post)));
    for (const char* site : {"same-site", "cross-site", "none", "", "Same-Origin",
                             "same-origin, same-origin", "same-origin "}) {
        BOOST_TEST(!fetched(site, from({}, console + "/")), site);
        BOOST_TEST(!fetched(site, from(console)), site);
        BOOST_TEST(!fetched(site, from(console, {}, Method::Post)), site);
    }
}

BOOST_AUTO_TEST_CASE(the_reply_allows_the_origin_of_the_request) {
    const auto headers = api::cors_headers(from("https://shop.example"));
    BOOST_TEST(header(headers, "Access-Control-Allow-Origin") == "https://shop.example");
    BOOST_TEST(header(headers, "Access-Control-Allow-Credentials").empty());
    BOOST_TEST(api::cors_headers(from({}, "https://shop.example/")).empty());
}

BOOST_AUTO_TEST_SUITE_END()
