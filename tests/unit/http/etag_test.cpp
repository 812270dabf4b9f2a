// http/etag.hpp: strong tags, and matching If-Match and If-None-Match.
#include "http/etag.hpp"

#include "print.hpp"

using muster::http::etag_of;
using muster::http::if_match_holds;
using muster::http::if_none_match_matches;

BOOST_AUTO_TEST_SUITE(etag)

BOOST_AUTO_TEST_CASE(a_tag_is_quoted_strong_and_depends_only_on_the_bytes) {
    const std::string tag = etag_of("{}");
    BOOST_TEST(tag.size() == 24U);
    BOOST_TEST(tag.front() == '"');
    BOOST_TEST(tag.back() == '"');
    BOOST_TEST(tag == etag_of("{}"));
    BOOST_TEST(tag != etag_of("{} "));
}

BOOST_AUTO_TEST_CASE(if_match_accepts_a_star_or_a_list_with_the_tag) {
    for (const char* header : {"*", " * ", "\"a\"", "\"x\",\"a\"", "\"x\" , \"a\" ", ",,\"a\"",
                               "\"x,y\",\"a\"", "W/\"a\", \"a\""}) {
        BOOST_TEST(if_match_holds(header, "\"a\""), header);
    }
}

BOOST_AUTO_TEST_CASE(if_match_rejects_everything_else) {
    for (const char* header : {"", " ", ",", "\"b\"", "W/\"a\"", "w/\"a\"", "a", "\"a", "a\"",
                               "\"a\"b", "\"x,\"a\"", "\"*\"", "*,\"b\"", "\"A\""}) {
        BOOST_TEST(!if_match_holds(header, "\"a\""), header);
    }
}

BOOST_AUTO_TEST_CASE(if_none_match_compares_weak_and_strong_tags) {
    for (const char* header : {"*", " * ", "\"a\"", "W/\"a\"", "\"x\",\"a\"", "\"x\" , W/\"a\" ",
                               ",,\"a\"", "\"x,y\",W/\"a\""}) {
        BOOST_TEST(if_none_match_matches(header, "\"a\""), header);
    }
    for (const char* header : {"", " ", ",", "\"b\"", "w/\"a\"", "W/a", "W/ \"a\"", "a", "\"a",
                               "a\"", "\"a\"b", "\"x,\"a\"", "\"*\"", "*,\"b\"", "\"A\"", "W/*"}) {
        BOOST_TEST(!if_none_match_matches(header, "\"a\""), header);
    }
}

BOOST_AUTO_TEST_SUITE_END()
