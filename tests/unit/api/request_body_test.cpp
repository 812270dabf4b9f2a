// api/request_body.hpp: the length to expect of a body before it arrives. tests/e2e covers the
// reading of bodies.
#include "api/request_body.hpp"

#include "print.hpp"

#include <cstddef>
#include <optional>
#include <string>

using namespace muster;

namespace {

constexpr std::size_t kLimit = 1000;

std::size_t expected(std::optional<std::size_t> announced, std::string coding = "") {
    api::Endpoint endpoint{};
    endpoint.body_limit = kLimit;
    http::Request request;
    request.announced_length = announced;
    request.content_encoding = std::move(coding);
    return api::expected_length(request, endpoint);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_body)

BOOST_AUTO_TEST_CASE(a_plain_body_has_the_announced_length) {
    BOOST_TEST(expected(0) == 0U);
    BOOST_TEST(expected(999) == 999U);
    BOOST_TEST(expected(999, "identity") == 999U);
    BOOST_TEST(expected(999, " Identity ") == 999U);
}

BOOST_AUTO_TEST_CASE(no_body_is_longer_than_its_limit) {
    BOOST_TEST(expected(1001) == kLimit);
    BOOST_TEST(expected(~std::size_t{0}) == kLimit);
    BOOST_TEST(expected(~std::size_t{0}, "gzip") == kLimit);
}

BOOST_AUTO_TEST_CASE(a_compressed_body_has_eight_times_the_announced_length) {
    BOOST_TEST(expected(100, "gzip") == 800U);
    BOOST_TEST(expected(126, "gzip") == kLimit);
    BOOST_TEST(expected(100, "gzip, gzip") == 800U);
    BOOST_TEST(expected(100, "br") == 800U);
}

BOOST_AUTO_TEST_CASE(a_body_of_unknown_length_may_be_as_long_as_its_limit) {
    BOOST_TEST(expected(std::nullopt) == kLimit);
    BOOST_TEST(expected(std::nullopt, "gzip") == kLimit);
}

BOOST_AUTO_TEST_SUITE_END()
