// rules/webhook_wire.hpp: the message format of Standard Webhooks 1.0.0.
#include "rules/webhook_wire.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <set>

using namespace muster;
using namespace muster::rules;

BOOST_AUTO_TEST_SUITE(webhooks)

// The example of the libraries of the specification.
BOOST_AUTO_TEST_CASE(a_signature_matches_the_published_example) {
    const Secret secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    BOOST_TEST(webhook_signatures("msg_p5jXN8AQM9LWM0D4loKWxJek", Timestamp(1'614'265'330'999),
                                  R"({"test": 2432232314})", {&secret, 1}) ==
               "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

BOOST_AUTO_TEST_CASE(each_secret_signs_and_each_part_is_signed) {
    const std::array secrets = {create_endpoint_secret(), create_endpoint_secret()};
    const auto sign = [&](std::string_view id, std::int64_t at, std::string_view body) {
        return webhook_signatures(id, Timestamp(at), body, secrets);
    };
    const std::string both = sign("msg_1", 1'000'000, "{}");
    BOOST_TEST(both ==
               webhook_signatures("msg_1", Timestamp(1'000'000), "{}", {&secrets[0], 1}) + " " +
                   webhook_signatures("msg_1", Timestamp(1'000'000), "{}", {&secrets[1], 1}));
    const std::set<std::string> all = {both, sign("msg_2", 1'000'000, "{}"),
                                       sign("msg_1", 1'001'000, "{}"),
                                       sign("msg_1", 1'000'000, "[]")};
    BOOST_TEST(all.size() == 4U);
    BOOST_TEST(sign("msg_1", 1'000'999, "{}") == both);  // whole seconds
}

BOOST_AUTO_TEST_CASE(an_invalid_secret_produces_no_signature) {
    for (const std::string text :
         {"", "whsec_", "whsec_!", "mks_AAAA", "whsec_AAA", "whsec_AA A="}) {
        const Secret secret(text);
        if (text == "whsec_") continue;  // an empty key is valid
        BOOST_CHECK_THROW(
            static_cast<void>(webhook_signatures("m", Timestamp(0), "", {&secret, 1})),
            std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(a_secret_holds_32_random_bytes) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const Secret secret = create_endpoint_secret();
        BOOST_TEST(secret.reveal().starts_with("whsec_"));
        BOOST_TEST(from_base64(secret.reveal().substr(6)).value().size() == 32U);
        seen.insert(secret.reveal());
    }
    BOOST_TEST(seen.size() == 100U);
}

BOOST_AUTO_TEST_CASE(an_id_is_derived_from_the_event_and_has_no_dot) {
    const auto event = WebhookEventId::parse("019aa000-1111-7222-8333-444455556666").value();
    BOOST_TEST(webhook_id(event) == "msg_019aa000111172228333444455556666");
}

BOOST_AUTO_TEST_CASE(a_body_has_its_three_members_in_order) {
    BOOST_TEST(
        webhook_body("member.created", Timestamp(0), R"({"id":"\"x"})") ==
        R"({"type":"member.created","timestamp":"1970-01-01T00:00:00.000Z","data":{"id":"\"x"}})");
}

BOOST_AUTO_TEST_CASE(a_set_of_types_is_sorted_and_contains_each_once) {
    const std::string joined = joined_types({"b.c", "a.b", "b.c"});
    BOOST_TEST(joined == "a.b b.c");
    BOOST_TEST(joined_types({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
