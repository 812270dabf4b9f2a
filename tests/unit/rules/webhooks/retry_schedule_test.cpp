// rules/webhooks/retry_schedule.hpp: ten attempts with jitter, and a Retry-After that is honored
// up to a limit.
#include "rules/webhooks/retry_schedule.hpp"

#include "base/text.hpp"

#include "print.hpp"

#include <array>
#include <random>

using namespace muster;
using rules::delivery_result;
using rules::DeliveryResult;
using rules::next_attempt_after;
using rules::readable_excerpt;

namespace {

constexpr std::array<std::int64_t, 9> kSteps = {5,      300,    1'800,  7'200, 18'000,
                                                36'000, 50'400, 72'000, 86'400};

std::int64_t milliseconds(int made, double random, std::optional<Milliseconds> asked = {}) {
    return next_attempt_after(made, random, asked).value_or(Milliseconds(-1)).count();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(webhook_retry_schedule)

BOOST_AUTO_TEST_CASE(nine_retries_follow_the_first_attempt) {
    for (int made = 1; made <= 9; ++made) {
        BOOST_TEST(milliseconds(made, 0.5) == 1000 * kSteps.at(made - 1), made);
    }
    for (const int made : {10, 11, 1000}) BOOST_TEST(!next_attempt_after(made, 0.5, {}), made);
}

BOOST_AUTO_TEST_CASE(a_delay_has_a_jitter_of_a_fifth_in_both_directions) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(0, 1);
    for (int made = 1; made <= 9; ++made) {
        const std::int64_t step = 1000 * kSteps.at(made - 1);
        BOOST_TEST(milliseconds(made, 0) == step * 8 / 10);
        for (int i = 0; i < 100; ++i) {
            const auto after = milliseconds(made, any(random));
            BOOST_TEST(after >= step * 8 / 10);
            BOOST_TEST(after <= step * 12 / 10);
        }
    }
}

BOOST_AUTO_TEST_CASE(retry_after_is_honored_up_to_twice_the_delay) {
    BOOST_TEST(milliseconds(1, 0.5, Milliseconds(1'000)) == 5'000);
    BOOST_TEST(milliseconds(1, 0.5, Milliseconds(7'000)) == 7'000);
    BOOST_TEST(milliseconds(1, 0.5, Milliseconds(10'000)) == 10'000);
    BOOST_TEST(milliseconds(1, 0.5, Milliseconds(10'001)) == 10'000);
    BOOST_TEST(milliseconds(9, 0.5, Milliseconds(1L << 60)) == 2 * 86'400'000);
    BOOST_TEST(milliseconds(2, 0.5, Milliseconds(-5)) == 300'000);
    BOOST_TEST(!next_attempt_after(10, 0.5, Milliseconds(1'000)));
}

BOOST_AUTO_TEST_CASE(only_2xx_is_delivered_and_only_410_is_gone) {
    for (const char* outcome : {"200", "202", "204", "299"}) {
        BOOST_TEST(delivery_result(outcome, std::stoi(outcome)) == DeliveryResult::Delivered);
        BOOST_TEST(rules::counted_class(outcome) == "2xx");
    }
    BOOST_TEST(delivery_result("http_4xx", 410) == DeliveryResult::Gone);
    BOOST_TEST(delivery_result("http_4xx", 404) == DeliveryResult::Failed);
    BOOST_TEST(delivery_result("http_3xx", 302) == DeliveryResult::Failed);
    for (const char* outcome : {"dns", "connect", "tls", "timeout", "blocked_address"}) {
        BOOST_TEST(delivery_result(outcome, {}) == DeliveryResult::Failed);
        BOOST_TEST(rules::counted_class(outcome) == outcome);
    }
    BOOST_TEST(delivery_result("internal", {}) == DeliveryResult::SenderFailed);
    BOOST_TEST(rules::counted_class("internal") == "internal");
}

BOOST_AUTO_TEST_CASE(an_excerpt_is_valid_utf8_of_limited_length_for_any_bytes) {
    BOOST_TEST(readable_excerpt("", 9) == "");
    BOOST_TEST(readable_excerpt("caf\xC3\xA9", 1024) == "caf\xC3\xA9");
    BOOST_TEST(readable_excerpt("a\xC3", 1024) == "a\xEF\xBF\xBD");
    BOOST_TEST(readable_excerpt("\xFFz", 1024) == "\xEF\xBF\xBDz");
    BOOST_TEST(readable_excerpt("abc\xC3\xA9", 4) == "abc");
    BOOST_TEST(readable_excerpt("ab\xFF", 4) == "ab");
    std::mt19937 random(7);
    for (int i = 0; i < 2'000; ++i) {
        std::string bytes;
        for (auto length = random() % 40; length > 0; --length) {
            bytes += static_cast<char>(random() & 0xffU);
        }
        const std::string text = readable_excerpt(bytes, 30);
        BOOST_TEST(is_utf8(text));
        BOOST_TEST(text.size() <= 30U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
