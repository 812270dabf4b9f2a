// base/words.hpp: lists of words, and the word that somebody probably meant.
#include "base/words.hpp"

#include "print.hpp"

#include <array>

using namespace muster;

BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(a_list_ends_with_or) {
    constexpr std::array<std::string_view, 3> kWords = {"a", "b", "c"};
    const std::span<const std::string_view> words = kWords;
    BOOST_TEST(listed(words.first(1)) == "a");
    BOOST_TEST(listed(words.first(2)) == "a or b");
    BOOST_TEST(listed(words) == "a, b or c");
}

BOOST_AUTO_TEST_CASE(the_nearest_word_has_few_typing_errors) {
    constexpr std::array<std::string_view, 4> kWords = {"imports", "mail", "all", "key list"};
    BOOST_TEST(nearest("mial", kWords).value_or("") == "mail");
    BOOST_TEST(nearest("import", kWords).value_or("") == "imports");
    BOOST_TEST(nearest("key lst", kWords).value_or("") == "key list");
    BOOST_TEST(nearest("key ls", kWords).value_or("") == "key list");
    BOOST_TEST(nearest("al", kWords).value_or("") == "all");
    BOOST_TEST(nearest("frob", kWords).value_or("") == "");
    BOOST_TEST(nearest("", kWords).value_or("") == "");
    BOOST_TEST(nearest(std::string(1'000'000, 'a'), kWords).value_or("") == "");
}

BOOST_AUTO_TEST_SUITE_END()
