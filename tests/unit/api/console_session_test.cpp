// api/console_session.hpp: when the cookie of the console's session is accepted.
#include "api/console_session.hpp"

#include "base/crypto.hpp"

#include "print.hpp"

#include <array>

using namespace muster;
using http::Method;
using http::Request;

namespace {

const std::string kConsole = "https://console.example";
const std::string kToken = create_credential("").reveal();

// A request as a browser sends it from a page of the console.
Request from_page(Method method) {
    Request request;
    request.method = method;
    request.cookie = "theme=dark; __Host-muster-session=" + kToken + "; other=1";
    request.fetch_site = "same-origin";
    if (!http::is_safe(method)) request.origin = kConsole;
    request.has_console_header = true;
    return request;
}

template <class Change>
Request changed(Method method, const Change& change) {
    Request request = from_page(method);
    change(request);
    return request;
}

std::optional<std::string> token(const Request& request) {
    return api::console_session_token(kConsole, request);
}

constexpr std::array kReading = {Method::Get, Method::Head};
constexpr std::array kChanging = {Method::Post, Method::Put, Method::Patch, Method::Delete};

template <class Check>
void for_each_method(const Check& check) {
    for (const Method method : kReading) check(method);
    for (const Method method : kChanging) check(method);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(console_session)

BOOST_AUTO_TEST_CASE(the_cookie_is_accepted_from_a_page_of_the_console) {
    for_each_method([](Method method) { BOOST_TEST((token(from_page(method)) == kToken)); });
}

BOOST_AUTO_TEST_CASE(the_cookie_is_ignored_unless_the_browser_names_its_own_origin) {
    for_each_method([](Method method) {
        for (const char* site :
             {"same-site", "cross-site", "none", "", "Same-Origin", "same-origin ",
              "same-origin, same-origin", "same-origin, cross-site"}) {
            const auto request = changed(method, [&](Request& r) { r.fetch_site = site; });
            BOOST_TEST(!token(request), site);
        }
        for (const char* origin : {"https://evil.example", "null", "", "http://console.example",
                                   "https://console.example:444", "https://a.console.example"}) {
            const auto request = changed(method, [&](Request& r) { r.origin = origin; });
            BOOST_TEST(!token(request), origin);
        }
    });
}

BOOST_AUTO_TEST_CASE(the_origin_or_the_referer_replaces_an_absent_sec_fetch_site) {
    for_each_method([](Method method) {
        const auto without = [&](std::optional<std::string> origin,
                                 std::optional<std::string> referer) {
            return token(changed(method, [&](Request& r) {
                r.fetch_site.reset();
                r.origin = std::move(origin);
                r.referer = std::move(referer);
            }));
        };
        BOOST_TEST((without(kConsole, {}) == kToken));
        BOOST_TEST((without({}, kConsole + "/console/") == kToken));
        BOOST_TEST(!without({}, {}));
        BOOST_TEST(!without("null", kConsole + "/console/"));
        BOOST_TEST(!without({}, "https://console.example.evil.example/"));
        BOOST_TEST(!without("https://evil.example", kConsole + "/console/"));
    });
}

BOOST_AUTO_TEST_CASE(a_change_needs_the_console_header_too) {
    const auto without = [](Method method) {
        return token(changed(method, [](Request& r) { r.has_console_header = false; }));
    };
    for (const Method method : kReading) BOOST_TEST((without(method) == kToken));
    for (const Method method : kChanging) BOOST_TEST(!without(method));
    for (const Method method : {Method::Options, Method::Other}) BOOST_TEST(!without(method));
}

BOOST_AUTO_TEST_CASE(the_cookie_is_ignored_next_to_an_authorization_header) {
    for (const char* header : {"Bearer x", "Basic x", " ", "x"}) {
        const auto request = changed(Method::Get, [&](Request& r) { r.authorization = header; });
        BOOST_TEST(!token(request), header);
    }
}

BOOST_AUTO_TEST_CASE(only_the_token_of_a_session_is_taken_from_the_cookie) {
    const auto with = [](const std::string& cookie) {
        return token(changed(Method::Get, [&](Request& r) { r.cookie = cookie; }));
    };
    for (const std::string& value :
         {create_credential("org_").reveal(), create_credential("mk_live_").reveal(),
          create_credential("ek_live_").reveal(), std::string("x"), kToken + "0",
          kToken.substr(1)}) {
        BOOST_TEST((with("__Host-muster-session=" + value) == ""), value.size());
    }
    for (const std::string& cookie :
         {std::string(), "muster-session=" + kToken, "__host-muster-session=" + kToken,
          std::string("__Host-muster-session="), "x__Host-muster-session=" + kToken}) {
        BOOST_TEST(!with(cookie), cookie);
    }
}

BOOST_AUTO_TEST_CASE(the_cookie_is_for_this_host_and_hidden_from_scripts) {
    BOOST_TEST(
        (api::console_session_cookie("abc") ==
         http::Header("Set-Cookie",
                      "__Host-muster-session=abc; Path=/; Secure; HttpOnly; SameSite=Strict")));
    const auto end = api::console_session_end();
    BOOST_TEST_REQUIRE(end.size() == 2U);
    BOOST_TEST(end.at(0).second ==
               "__Host-muster-session=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0");
    BOOST_TEST((end.at(1) == http::Header("Clear-Site-Data", "\"storage\"")));
}

BOOST_AUTO_TEST_SUITE_END()
