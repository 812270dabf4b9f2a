// rules/event_types.hpp: which types exist, who may emit them, and who may subscribe to them.
#include "rules/event_types.hpp"

#include "print.hpp"

using namespace muster::rules;

BOOST_AUTO_TEST_SUITE(event_types)

BOOST_AUTO_TEST_CASE(a_type_is_lower_case_words_separated_by_dots) {
    for (const std::string type : {"a.b", "member.created", "a1_.b_2.c", "shop_2.order.paid"}) {
        BOOST_TEST(is_event_type(type), type);
    }
    for (const std::string type :
         {"", "a", ".", "a.", ".a", "a..b", "A.b", "a.B", "1a.b", "a.1b", "_a.b", "a.b ", " a.b",
          "a-b.c", "a.b\n", "\xc3\xa4.b", "a.b.", "a/b.c"}) {
        BOOST_TEST(!is_event_type(type), type);
    }
    BOOST_TEST(is_event_type("a." + std::string(kLongestEventType - 2, 'b')));
    BOOST_TEST(!is_event_type("a." + std::string(kLongestEventType - 1, 'b')));
    BOOST_TEST(!is_event_type(std::string_view("a.b\0c", 5)));
}

BOOST_AUTO_TEST_CASE(canonical_types_can_be_subscribed_to_and_misspelled_ones_cannot) {
    for (const std::string_view type : kCanonicalEventTypes) {
        BOOST_TEST(is_event_type(type), type);
        BOOST_TEST(can_subscribe_to(type), type);
    }
    for (const std::string type :
         {"member.udpated", "member.created.twice", "engagement.record", "installation.error",
          "webhook_endpoint.test", "member", "Member.created"}) {
        BOOST_TEST(!can_subscribe_to(type), type);
    }
    BOOST_TEST(can_subscribe_to("shop.order_paid"));
    BOOST_TEST(
        can_subscribe_to("members.created"));  // a module with this slug may be created later
}

BOOST_AUTO_TEST_CASE(a_module_emits_only_types_with_its_own_slug) {
    BOOST_TEST(can_emit("shop", "shop.order.paid"));
    BOOST_TEST(can_emit("my-shop", "my_shop.paid"));
    for (const std::string type : {"shop", "shop.", "shopper.paid", "sho.paid", "my-shop.paid",
                                   "member.created", "Shop.paid"}) {
        BOOST_TEST(!can_emit("shop", type), type);
    }
    for (const std::string slug : {"member", "engagement", "installation", "webhook-endpoint"}) {
        BOOST_TEST(muster::rules::is_reserved_slug(slug), slug);
    }
    for (const std::string slug : {"members", "webhook", "shop"}) {
        BOOST_TEST(!muster::rules::is_reserved_slug(slug), slug);
    }
    BOOST_TEST(!can_emit("member", "member.created"));
    BOOST_TEST(!can_emit("webhook-endpoint", "webhook_endpoint.disabled"));
}

BOOST_AUTO_TEST_SUITE_END()
