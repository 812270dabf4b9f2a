// rules/cursor.hpp: a cursor opens only for the scope it was sealed for.
#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <string>

using muster::rules::CursorSealer;

namespace {

const std::string kKey(32, 'k');
constexpr std::string_view kScope = "listUsers|0190|status=active";

std::string every_byte() {
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cursor)

BOOST_AUTO_TEST_CASE(a_position_of_any_bytes_is_read_back) {
    const CursorSealer sealer(kKey);
    for (const std::string& position :
         {std::string(), std::string("x"), std::string(1, '\0'), std::string(16, '\xff'),
          every_byte(), std::string(4000, 'p')}) {
        const auto opened = sealer.open(kScope, sealer.seal(kScope, position));
        BOOST_TEST_REQUIRE(opened.has_value());
        BOOST_TEST(*opened == position);
    }
}

BOOST_AUTO_TEST_CASE(a_cursor_needs_no_escaping_in_a_query) {
    const CursorSealer sealer(kKey);
    constexpr std::string_view kSafe =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::string text = sealer.seal(kScope, every_byte());
    BOOST_TEST(text.find_first_not_of(kSafe) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_same_page_has_the_same_cursor) {
    const CursorSealer sealer(kKey);
    BOOST_TEST(sealer.seal(kScope, "p") == sealer.seal(kScope, "p"));
    BOOST_TEST(sealer.seal(kScope, "p") == CursorSealer(kKey).seal(kScope, "p"));
    BOOST_TEST(sealer.seal(kScope, "p") != sealer.seal(kScope, "q"));
}

BOOST_AUTO_TEST_CASE(the_tag_is_half_an_hmac_over_the_scope_with_its_length_and_the_position) {
    const std::string length = std::string(7, '\0') + static_cast<char>(kScope.size());
    const std::string mac = muster::hmac_sha256(kKey, length + std::string(kScope) + "position");
    const std::string expected = muster::to_base64url("position" + mac.substr(0, 16));
    BOOST_TEST(CursorSealer(kKey).seal(kScope, "position") == expected);
}

BOOST_AUTO_TEST_CASE(a_cursor_of_another_scope_does_not_open) {
    const CursorSealer sealer(kKey);
    const std::string text = sealer.seal(kScope, "position");
    for (const std::string_view scope :
         {"", "listUsers", "listUsers|0191|status=active", "listUsers|0190|status=activ",
          "listUsers|0190|status=activep", "listusers|0190|status=active"}) {
        BOOST_TEST(!sealer.open(scope, text).has_value(), scope);
    }
}

BOOST_AUTO_TEST_CASE(bytes_cannot_move_between_scope_and_position) {
    const CursorSealer sealer(kKey);
    const std::string sealed = muster::from_base64url(sealer.seal("ab", "cd")).value();
    const std::string tag = sealed.substr(2);
    BOOST_TEST(!sealer.open("abc", muster::to_base64url("d" + tag)).has_value());
    BOOST_TEST(!sealer.open("a", muster::to_base64url("bcd" + tag)).has_value());
    BOOST_TEST(!sealer.open("abcd", muster::to_base64url(tag)).has_value());
    BOOST_TEST(sealer.open("ab", muster::to_base64url("cd" + tag)).has_value());
}

BOOST_AUTO_TEST_CASE(a_cursor_of_another_key_does_not_open) {
    const std::string text = CursorSealer(kKey).seal(kScope, "position");
    BOOST_TEST(!CursorSealer(std::string(32, 'l')).open(kScope, text).has_value());
    BOOST_TEST(!CursorSealer(kKey + "k").open(kScope, text).has_value());
}

BOOST_AUTO_TEST_CASE(a_change_of_any_bit_is_detected) {
    const CursorSealer sealer(kKey);
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
    const CursorSealer sealer(kKey);
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
    const CursorSealer sealer(kKey);
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
    const CursorSealer sealer(kKey);
    for (const std::string& text :
         {std::string(), std::string("null"), std::string("1"), std::string("50"),
          std::string(22, 'A'), std::string(100000, 'A'), std::string("../../etc/passwd"),
          std::string(24, '\0'), every_byte(), std::string("' OR 1=1 --")}) {
        BOOST_TEST(!sealer.open(kScope, text).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
