// http/fcgi_request.hpp: what each parameter becomes.
#include "http/fcgi_request.hpp"

#include "print.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

using namespace muster::http;

namespace {

Request request_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
    std::string pairs;
    for (const auto& [name, value] : parameters) {
        pairs += static_cast<char>(name.size());
        pairs += static_cast<char>(value.size());
        pairs.append(name).append(value);
    }
    return make_request(Parameters(pairs));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fcgi_request)

BOOST_AUTO_TEST_CASE(a_request_without_parameters_is_empty) {
    const Request request = request_of({});
    BOOST_TEST(request.method == Method::Other);
    BOOST_TEST(request.path == "");
    BOOST_TEST(!request.origin);
    BOOST_TEST(!request.if_match);
    BOOST_TEST(!request.has_idempotency_key);
    BOOST_TEST(!request.announced_length);
    BOOST_TEST(request.content_length == 0U);
}

BOOST_AUTO_TEST_CASE(the_path_ends_at_the_first_question_mark) {
    BOOST_TEST(request_of({{"REQUEST_URI", "/v1/users?a=?b"}}).path == "/v1/users");
    BOOST_TEST(request_of({{"REQUEST_URI", "/v1/users"}}).path == "/v1/users");
}

BOOST_AUTO_TEST_CASE(an_empty_header_differs_from_a_missing_one) {
    const Request request = request_of(
        {{"HTTP_IDEMPOTENCY_KEY", ""}, {"HTTP_IF_MATCH", ""}, {"HTTP_X_EXPECT_ORGANIZATION", ""}});
    BOOST_TEST(request.has_idempotency_key);
    BOOST_TEST(request.if_match.has_value());
    BOOST_TEST(request.has_expect_organization);
    BOOST_TEST(!request_of({{"GEO_COUNTRY", ""}}).geo_country);
    BOOST_TEST(request_of({{"GEO_COUNTRY", "SE"}}).geo_country == "SE");
}

BOOST_AUTO_TEST_CASE(repeated_origins_are_joined_and_other_repeated_headers_are_named) {
    const Request request = request_of({{"HTTP_ORIGIN", "https://a.example"},
                                        {"HTTP_ORIGIN", "https://b.example"},
                                        {"HTTP_AUTHORIZATION", "Bearer a"},
                                        {"HTTP_AUTHORIZATION", "Bearer b"},
                                        {"HTTP_CONTENT_TYPE", "a"},
                                        {"HTTP_CONTENT_TYPE", "b"}});
    BOOST_TEST(request.origin == "https://a.example, https://b.example");
    BOOST_TEST(request.authorization == "Bearer a");
    BOOST_TEST(is_repeated(request, "Content-Type"));
    BOOST_TEST(!is_repeated(request, "Idempotency-Key"));
}

BOOST_AUTO_TEST_CASE(the_time_is_of_nginx_to_the_millisecond) {
    const auto at = [](std::string_view text) {
        return request_of({{"REQUEST_TIME_MSEC", text}}).arrived;
    };
    BOOST_TEST(at("1763700000.124") - at("1763700000.123") == muster::Milliseconds(1));
    for (const std::string_view text : {"", "soon", "99999999999999999999.999"}) {
        const auto since = muster::Timestamp::now() - at(text);
        BOOST_TEST(since < std::chrono::minutes(1), text);
    }
}

BOOST_AUTO_TEST_CASE(a_credential_check_announces_a_length_and_has_no_body) {
    const Request check = request_of({{"CREDENTIAL_CHECK", "1"}, {"CONTENT_LENGTH", "7"}});
    BOOST_TEST(check.is_credential_check);
    BOOST_TEST(check.announced_length.value_or(0) == 7U);
    BOOST_TEST(check.content_length == 0U);
    const Request usual = request_of({{"CONTENT_LENGTH", "7"}});
    BOOST_TEST(usual.content_length == 7U);
    BOOST_TEST(!request_of({{"CONTENT_LENGTH", "-7"}}).announced_length);
}

BOOST_AUTO_TEST_CASE(each_header_that_names_a_prefetch_counts) {
    for (const std::string_view name : {"HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_MOZ"}) {
        BOOST_TEST(request_of({{name, "prefetch"}}).is_prefetch, name);
    }
    BOOST_TEST(!request_of({{"HTTP_PURPOSE", "navigate"}}).is_prefetch);
}

BOOST_AUTO_TEST_SUITE_END()
