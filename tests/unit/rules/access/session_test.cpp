// rules/access/session.hpp: what is kept of the program that opened a session.
#include "rules/access/session.hpp"

#include "base/text.hpp"

#include "print.hpp"

using namespace muster;
using rules::session_client;

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(a_user_agent_is_kept_up_to_200_bytes) {
    BOOST_TEST(!session_client("", {}).user_agent.has_value());
    BOOST_TEST(session_client("curl/8.5", {}).user_agent.value_or("") == "curl/8.5");
    for (const std::size_t size : {199U, 200U, 201U, 16'000U}) {
        const auto kept = session_client(std::string(size, 'x'), {}).user_agent.value_or("");
        BOOST_TEST(kept.size() == std::min<std::size_t>(size, 200));
    }
}

BOOST_AUTO_TEST_CASE(a_hostile_user_agent_stays_valid_and_short) {
    BOOST_TEST(session_client("a\x1b[2Jb\xff", {}).user_agent.value_or("") == "a\\x1b[2Jb\\xff");
    std::string accents;
    while (accents.size() < 300) accents += "\xc3\xa9";
    for (const std::string& before : {std::string(), std::string("x"), std::string("\n")}) {
        const auto kept = session_client(before + accents, {}).user_agent.value_or("");
        BOOST_TEST(is_utf8(kept));
        BOOST_TEST(kept.size() <= 200U);
        BOOST_TEST(kept.size() >= 190U);
    }
}

BOOST_AUTO_TEST_CASE(a_country_has_two_capital_letters) {
    BOOST_TEST(session_client("", "GB").country.value_or("") == "GB");
    for (const char* code : {"", "G", "GBR", "gb", "--", "G1", "A\xc3"}) {
        BOOST_TEST(!session_client("", code).country.has_value(), code);
    }
    BOOST_TEST(!session_client("", std::nullopt).country.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
