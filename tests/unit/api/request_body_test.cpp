// api/request_body.hpp: the length to expect of a body before it arrives, and empty bodies.
// tests/e2e covers the reading of other bodies.
#include "api/request_body.hpp"

#include "base/error.hpp"
#include "base/gzip.hpp"
#include "unit/base/deflate_blocks.hpp"

#include "print.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

// A gzip member that stands for no byte.
constexpr std::string_view kEmptyGzip("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);

struct SentBody {
    std::string bytes;
    std::string coding;
};

// The body, or the reason of its rejection.
std::string read_or_reason(const SentBody& sent, bool is_required) {
    api::Endpoint endpoint{};
    endpoint.body_limit = kLimit;
    endpoint.body_required = is_required;
    endpoint.accepts_gzip = true;
    http::Request request;
    request.content_type = "application/json";
    request.content_encoding = sent.coding;
    request.read_body = [&sent](std::size_t) { return std::optional(sent.bytes); };
    try {
        return api::read_body(request, endpoint);
    } catch (const Error& error) {
        BOOST_TEST((error.code() == ErrorCode::BadRequest));
        return error.details()["reason"].asString();
    }
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

BOOST_AUTO_TEST_CASE(a_compressed_body_without_a_byte_is_an_empty_body) {
    const std::string nothing(kEmptyGzip);
    for (const SentBody& sent : {SentBody{"", ""}, SentBody{"", "gzip"}, SentBody{nothing, "gzip"},
                                 SentBody{nothing + nothing, "gzip"}}) {
        BOOST_TEST(read_or_reason(sent, true) == "the body is empty");
        BOOST_TEST(read_or_reason(sent, false) == "");
    }
    BOOST_TEST(read_or_reason({"{}", ""}, true) == "{}");
}

BOOST_AUTO_TEST_CASE(the_reason_says_what_is_wrong_with_a_gzip_body) {
    BOOST_TEST(read_or_reason({"{}", "gzip"}, true) == "the body is not complete gzip");
    muster::test::DeflateBlocks blocks;
    for (std::size_t i = 0; i <= muster::kFreeDynamicBlocks; ++i) blocks.add_empty_dynamic();
    BOOST_TEST(read_or_reason({blocks.gzip_of(""), "gzip"}, true) ==
               "the gzip body has too many blocks for its text; flush less often");
}

BOOST_AUTO_TEST_SUITE_END()
