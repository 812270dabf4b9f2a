// rules/cursor.hpp: a cursor opens only for the scope it was sealed for.
#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <string>

using muster::rules::CursorSealer;

namespace {

muster::Secret key_of(char c) {
    return muster::Secret(std::string(muster::kSivKeyBytes, c));
}

const CursorSealer sealer(key_of('k'));
constexpr std::string_view kScope = "listUsers|0190|status=active";

std::string every_byte() {
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cursor)

BOOST_AUTO_TEST_CASE(a_position_of_any_bytes_is_read_back) {
    for (const std::string& position :
         {std::string(), std::string("x"), std::string(1, '\0'), std::string(16, '\xff'),
          every_byte(), std::string(4000, 'p')}) {
        const auto opened = sealer.open(kScope, sealer.seal(kScope, position));
        BOOST_TEST_REQUIRE(opened.has_value());
        BOOST_TEST(*opened == position);
    }
}

BOOST_AUTO_TEST_CASE(a_cursor_needs_no_escaping_in_a_query) {
    constexpr std::string_view kSafe =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::string text = sealer.seal(kScope, every_byte());
    BOOST_TEST(text.find_first_not_of(kSafe) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_same_page_has_the_same_cursor) {
    BOOST_TEST(sealer.seal(kScope, "p") == sealer.seal(kScope, "p"));
    BOOST_TEST(sealer.seal(kScope, "p") == CursorSealer(key_of('k')).seal(kScope, "p"));
    BOOST_TEST(sealer.seal(kScope, "p") != sealer.seal(kScope, "q"));
}

BOOST_AUTO_TEST_CASE(a_cursor_does_not_show_its_position) {
    const std::string title = "Takeover of Example Ltd on Monday";
    const std::string sealed = muster::from_base64url(sealer.seal(kScope, title)).value();
    for (std::size_t at = 0; at + 4 <= title.size(); ++at) {
        BOOST_TEST(sealed.find(title.substr(at, 4)) == std::string::npos, title.substr(at, 4));
    }
    // Two positions with the same beginning have nothing in common.
    const std::string other = muster::from_base64url(sealer.seal(kScope, title + ".")).value();
    BOOST_TEST(sealed.substr(16, 8) != other.substr(16, 8));
}

BOOST_AUTO_TEST_CASE(the_length_of_a_cursor_does_not_show_that_of_its_position) {
    const std::size_t shortest = sealer.seal(kScope, "").size();
    BOOST_TEST(sealer.seal(kScope, std::string(31, 'p')).size() == shortest);
    BOOST_TEST(sealer.seal(kScope, std::string(32, 'p')).size() > shortest);
    BOOST_TEST((sealer.open(kScope, sealer.seal(kScope, "p\x80")) == "p\x80"));
}

BOOST_AUTO_TEST_CASE(a_cursor_of_another_scope_does_not_open) {
    const std::string text = sealer.seal(kScope, "position");
    for (const std::string_view scope :
         {"", "listUsers", "listUsers|0191|status=active", "listUsers|0190|status=activ",
          "listUsers|0190|status=activep", "listusers|0190|status=active"}) {
        BOOST_TEST(!sealer.open(scope, text).has_value(), scope);
    }
}

BOOST_AUTO_TEST_CASE(a_cursor_of_another_key_does_not_open) {
    const std::string text = sealer.seal(kScope, "position");
    BOOST_TEST(!CursorSealer(key_of('l')).open(kScope, text).has_value());
    for (const std::size_t half : {0U, 32U}) {
        std::string key(muster::kSivKeyBytes, 'k');
        key[half] = 'l';
        BOOST_TEST(!CursorSealer(muster::Secret(key)).open(kScope, text).has_value(), half);
    }
}

BOOST_AUTO_TEST_CASE(a_change_of_any_bit_is_detected) {
    const std::string sealed = muster::from_base64url(sealer.seal(kScope, "position")).value();
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string changed = sealed;
            changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1U << bit));
            BOOST_TEST(!sealer.open(kScope, muster::to_base64url(changed)).has_value(),
                       "byte " << at << " bit " << bit);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_change_of_any_character_is_detected) {
    for (const std::string_view position : {"", "p", "po", "pos"}) {
        const std::string text = sealer.seal(kScope, position);
        for (std::size_t at = 0; at < text.size(); ++at) {
            for (const char c : every_byte()) {
                if (c == text[at]) continue;
                std::string changed = text;
                changed[at] = c;
                BOOST_TEST(!sealer.open(kScope, changed).has_value(),
                           "character " << at << " as " << static_cast<int>(c));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_truncated_or_extended_cursor_does_not_open) {
    const std::string text = sealer.seal(kScope, "position");
    for (std::size_t size = 0; size < text.size(); ++size) {
        BOOST_TEST(!sealer.open(kScope, text.substr(0, size)).has_value(), size);
        BOOST_TEST(!sealer.open(kScope, text.substr(text.size() - size)).has_value(), size);
    }
    for (const std::string_view tail : {"A", "=", "==", " ", "\n", "AAAA"}) {
        BOOST_TEST(!sealer.open(kScope, text + std::string(tail)).has_value());
        BOOST_TEST(!sealer.open(kScope, std::string(tail) + text).has_value());
    }
}

BOOST_AUTO_TEST_CASE(garbage_does_not_open) {
    for (const std::string& text :
         {std::string(), std::string("null"), std::string("1"), std::string("50"),
          std::string(22, 'A'), std::string(100000, 'A'), std::string("../../etc/passwd"),
          std::string(24, '\0'), every_byte(), std::string("' OR 1=1 --")}) {
        BOOST_TEST(!sealer.open(kScope, text).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
