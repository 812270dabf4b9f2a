// base/printable.hpp: text that a terminal does not obey.
#include "base/printable.hpp"

#include "print.hpp"

using namespace muster;

BOOST_AUTO_TEST_SUITE(printable_text)

BOOST_AUTO_TEST_CASE(what_a_terminal_obeys_is_escaped) {
    BOOST_TEST(printable("Gr\u00fc\u00dfe \U0001F600") == "Gr\u00fc\u00dfe \U0001F600");
    BOOST_TEST(printable("a\x1b[31m\nb\x7f") == "a\\x1b[31m\\x0ab\\x7f");
    BOOST_TEST(printable("\u009b31m") == "\\xc2\\x9b31m");
    BOOST_TEST(printable("\u202eevil\u2066\u200b\ufeff") ==
               "\\xe2\\x80\\xaeevil\\xe2\\x81\\xa6\\xe2\\x80\\x8b\\xef\\xbb\\xbf");
    BOOST_TEST(printable("\xff\xc3(\xf0\x9f") == "\\xff\\xc3(\\xf0\\x9f");
    BOOST_TEST(printable(std::string_view("\0", 1)) == "\\x00");
}

BOOST_AUTO_TEST_CASE(a_long_text_is_quoted_up_to_a_bound) {
    BOOST_TEST(in_quotes("") == "\"\"");
    BOOST_TEST(in_quotes("a\x1b\xff") == "\"a\\x1b\\xff\"");
    const std::string most(200, 'a');
    BOOST_TEST(in_quotes(most) == "\"" + most + "\"");
    BOOST_TEST(in_quotes(most + "a") == "\"" + most + "...\" (201 bytes)");
    const std::string odd = std::string(199, 'a') + "\u00e9";
    BOOST_TEST(in_quotes(odd + "a") == "\"" + odd + "...\" (202 bytes)");
}

BOOST_AUTO_TEST_SUITE_END()
