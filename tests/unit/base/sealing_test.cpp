// base/sealing.hpp: a sealed value opens only with its key and its context.
#include "base/sealing.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <set>
#include <string>

using muster::KeyRing;
using muster::open_under;
using muster::seal_under;
using muster::Secret;

namespace {

const Secret kKey(std::string(32, 'k'));
const Secret kOther(std::string(32, 'o'));

std::string bytes_of_all_values() {
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    return bytes;
}

// The opened value, or "(closed)".
std::string opened(const std::optional<Secret>& plain) {
    return plain ? plain->reveal() : "(closed)";
}

// `is_open` must be false for every sealed text that differs from the valid one by one bit.
template <class IsOpen>
void check_every_bit(const std::string& sealed, const IsOpen& is_open) {
    BOOST_TEST(is_open(sealed));
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = sealed;
            changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
            if (is_open(changed)) BOOST_ERROR("byte " << at << " bit " << bit);
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sealing)

BOOST_AUTO_TEST_CASE(a_sealed_value_of_any_bytes_opens_unchanged) {
    const KeyRing keys(kKey);
    for (const std::string& plain : {std::string(), std::string(1, '\0'), std::string("hush"),
                                     bytes_of_all_values(), std::string(100'000, 'x')}) {
        for (const std::string& context : {std::string(), std::string("totp:1"), plain}) {
            BOOST_TEST(opened(keys.open(keys.seal(plain, context), context)) == plain);
            BOOST_TEST(
                (opened(open_under(kKey, seal_under(kKey, plain, context), context)) == plain));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_sealed_text_hides_its_value_and_equal_values_differ) {
    const KeyRing keys(kKey);
    const std::string plain = "a secret of some length";
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string sealed = keys.seal(plain, "c");
        BOOST_TEST(sealed.find(plain.substr(0, 4)) == std::string::npos);
        BOOST_TEST(sealed.find("kkkk") == std::string::npos);
        seen.insert(sealed.substr(9, 12));  // the nonce
    }
    BOOST_TEST(seen.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(a_sealed_text_with_a_bit_changed_does_not_open) {
    const KeyRing keys(kKey, kOther);
    check_every_bit(keys.seal("hush", "c"),
                    [&](const std::string& sealed) { return keys.open(sealed, "c").has_value(); });
    check_every_bit(seal_under(kKey, "hush", "c"), [&](const std::string& sealed) {
        return open_under(kKey, sealed, "c").has_value();
    });
}

BOOST_AUTO_TEST_CASE(a_sealed_text_that_is_cut_or_longer_does_not_open) {
    const KeyRing keys(kKey);
    for (const std::string plain : {"", "hush"}) {
        const std::string sealed = keys.seal(plain, "c");
        for (std::size_t size = 0; size < sealed.size(); ++size) {
            BOOST_TEST(!keys.open(sealed.substr(0, size), "c").has_value(), size);
            BOOST_TEST(!keys.open(sealed.substr(sealed.size() - size), "c").has_value(), size);
        }
        BOOST_TEST(!keys.open(sealed + '\0', "c").has_value());
        BOOST_TEST(!keys.open(sealed + sealed, "c").has_value());
        const std::string under = seal_under(kKey, plain, "c");
        for (std::size_t size = 0; size < under.size(); ++size) {
            BOOST_TEST(!open_under(kKey, under.substr(0, size), "c").has_value(), size);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_value_moved_to_another_row_does_not_open) {
    const KeyRing keys(kKey);
    const std::string sealed = keys.seal("hush", "totp:1");
    for (const std::string context : {"", "totp:", "totp:2", "totp:11", "Totp:1", "mail:1"}) {
        BOOST_TEST(!keys.open(sealed, context).has_value(), context);
    }
    BOOST_TEST(!keys.open(sealed, std::string("totp:1\0", 7)).has_value());
}

BOOST_AUTO_TEST_CASE(the_key_of_another_installation_opens_nothing) {
    const std::string sealed = KeyRing(kKey).seal("hush", "c");
    BOOST_TEST(!KeyRing(kOther).open(sealed, "c").has_value());
    BOOST_TEST(!KeyRing(Secret(std::string(33, 'k'))).open(sealed, "c").has_value());
    BOOST_TEST(!open_under(kOther, seal_under(kKey, "hush", "c"), "c").has_value());
}

BOOST_AUTO_TEST_CASE(the_previous_key_opens_while_configured_and_never_seals) {
    const std::string old = KeyRing(kOther).seal("hush", "c");
    const KeyRing both(kKey, kOther);
    BOOST_TEST(opened(both.open(old, "c")) == "hush");
    BOOST_TEST(!both.is_current(old));
    BOOST_TEST(!both.open(old, "d").has_value());
    const std::string sealed = both.seal("hush", "c");
    BOOST_TEST(both.is_current(sealed));
    BOOST_TEST(opened(KeyRing(kKey).open(sealed, "c")) == "hush");
    BOOST_TEST(!KeyRing(kOther).open(sealed, "c").has_value());
    BOOST_TEST(!KeyRing(kKey).open(old, "c").has_value());
    BOOST_TEST(!KeyRing(kKey).is_current(""));
    BOOST_TEST(!KeyRing(kKey).is_current(sealed.substr(0, 8)));
}

BOOST_AUTO_TEST_CASE(keys_of_different_purposes_are_independent) {
    const KeyRing keys(kKey, kOther);
    std::set<std::string> derived;
    for (const std::string purpose : {"", "a", "b", "A", "a ", "key id", "sealing"}) {
        const Secret key = keys.derive(purpose);
        BOOST_TEST(key.reveal().size() == 32U);
        BOOST_TEST(keys.derive(purpose).reveal() == key.reveal());
        BOOST_TEST(KeyRing(kKey).derive(purpose).reveal() == key.reveal());
        BOOST_TEST(KeyRing(kOther).derive(purpose).reveal() != key.reveal());
        derived.insert(key.reveal());
    }
    BOOST_TEST(derived.size() == 7U);
    BOOST_TEST(!derived.contains(kKey.reveal()));
}

// An older program sealed the stored values. The keys and the format cannot change without a new
// version.
BOOST_AUTO_TEST_CASE(a_value_sealed_by_an_older_program_opens) {
    BOOST_TEST(muster::to_hex(KeyRing(kKey).derive("guess budgets").reveal()) ==
               "55c3c8db41b8b2f9443913d895f1956e05c3cb0a77a9b5a7fac01ecb804cf24a");
    const auto sealed =
        muster::from_base64url("AVvL18XCcIl2bm9uY2UgZm9yIGl0Pb3cKe0IgGwK9YHq-FbSZ2V8XKo");
    BOOST_TEST_REQUIRE(sealed.has_value());
    BOOST_TEST(opened(KeyRing(kKey).open(*sealed, "totp:1")) == "hush");
    BOOST_TEST(KeyRing(kKey).is_current(*sealed));
}

BOOST_AUTO_TEST_SUITE_END()
