// base/crypto.hpp: published test vectors of the digests, and the format of Muster's credentials.
#include "base/crypto.hpp"

#include "base/text.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "print.hpp"

#include <array>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

using muster::create_credential;
using muster::equal_in_constant_time;
using muster::hmac_sha1;
using muster::hmac_sha256;
using muster::is_credential;
using muster::random_digits;
using muster::Secret;
using muster::sha1;
using muster::sha256;
using muster::to_hex;

namespace {

constexpr std::string_view kBase62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

template <class Value>
concept Streamable = requires(std::ostream& out, const Value& value) {
    out << value;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(crypto)

BOOST_AUTO_TEST_CASE(sha256_gives_the_published_digests) {
    const std::vector<std::pair<std::string, std::string_view>> table = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {std::string(1000000, 'a'),
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (const auto& [data, digest] : table) {
        BOOST_TEST(sha256(data).size() == 32U);
        BOOST_TEST(to_hex(sha256(data)) == digest);
    }
}

BOOST_AUTO_TEST_CASE(hmac_sha256_gives_the_digests_of_rfc_4231) {
    struct Row {
        std::string key;
        std::string data;
        std::string_view digest;
    };
    const std::vector<Row> table = {
        {std::string(20, '\x0b'), "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {std::string(20, '\xaa'), std::string(50, '\xdd'),
         "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {"", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
    };
    for (const Row& row : table) {
        BOOST_TEST(hmac_sha256(row.key, row.data).size() == 32U);
        BOOST_TEST(to_hex(hmac_sha256(row.key, row.data)) == row.digest);
    }
}

BOOST_AUTO_TEST_CASE(hmac_sha1_gives_the_digests_of_rfc_2202) {
    std::string counted;
    for (char c = 1; c <= 0x19; ++c) counted += c;
    const std::string large = "Test Using Larger Than Block-Size Key";
    const std::vector<std::array<std::string, 3>> table = {
        {std::string(20, '\x0b'), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"},
        {"Jefe", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
        {std::string(20, '\xaa'), std::string(50, '\xdd'),
         "125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
        {counted, std::string(50, '\xcd'), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"},
        {std::string(20, '\x0c'), "Test With Truncation",
         "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"},
        {std::string(80, '\xaa'), large + " - Hash Key First",
         "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
        {std::string(80, '\xaa'), large + " and Larger Than One Block-Size Data",
         "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
    };
    for (const auto& [key, data, digest] : table) {
        BOOST_TEST(hmac_sha1(key, data).size() == 20U);
        BOOST_TEST(to_hex(hmac_sha1(key, data)) == digest);
    }
}

BOOST_AUTO_TEST_CASE(sha1_gives_the_published_digests) {
    BOOST_TEST(to_hex(sha1("")) == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    BOOST_TEST(to_hex(sha1("abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

// The test vectors of the reference implementation: data is 00 01 02 …, little-endian digests.
BOOST_AUTO_TEST_CASE(siphash_gives_the_published_digests) {
    std::string key;
    for (char c = 0; c < 16; ++c) key += c;
    BOOST_TEST(muster::siphash(key, "") == 0x726fdb47dd0e0e31U);
    BOOST_TEST(muster::siphash(key, key.substr(0, 1)) == 0x74f839c593dc67fdU);
    BOOST_TEST(muster::siphash(key, key.substr(0, 15)) == 0xa129ca6149be45e5U);
    const std::string other = key.substr(1) + key.substr(0, 1);
    BOOST_TEST(muster::siphash(other, "") != muster::siphash(key, ""));
    BOOST_TEST(muster::siphash(key, "") == 0x726fdb47dd0e0e31U);
    BOOST_CHECK_THROW((void)muster::siphash(key + "x", ""), std::invalid_argument);
    BOOST_CHECK_THROW((void)muster::siphash("", ""), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(hkdf_gives_the_key_of_rfc_5869) {  // test case 3, the first 32 bytes
    BOOST_TEST(to_hex(muster::hkdf_sha256(Secret(std::string(22, '\x0b')), "").reveal()) ==
               "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

// Test case 14 of "The Galois/Counter Mode of Operation" (McGrew, Viega).
BOOST_AUTO_TEST_CASE(aes_256_gcm_opens_the_published_text) {
    const std::string sealed =
        std::string(12, '\0') +
        muster::from_hex("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
            .value();
    const auto plain = muster::open_under(Secret(std::string(32, '\0')), sealed, "");
    BOOST_TEST_REQUIRE(plain.has_value());
    BOOST_TEST(plain->reveal() == std::string(16, '\0'));
}

// Computed from AES-256-ECB by the steps of RFC 5297: the key is 00 to 3f.
BOOST_AUTO_TEST_CASE(aes_256_siv_follows_rfc_5297) {
    std::string bytes;
    for (char c = 0; c < 64; ++c) bytes += c;
    const Secret key(bytes);
    const std::vector<std::pair<std::string, std::string>> table = {
        {"hush", "60a72e802fc3ca63bdcafdf217eae88d76723724"},
        {"a plain text of more than sixteen bytes",
         "dbe9b76e9820374e9974f0c8ad6d1acfa2bd57e6356a2ad41e8a50c8c644ff025d82b34d407c3581692d5e9c"
         "89d7784b454892cb689e32"},
    };
    for (const auto& [plain, sealed] : table) {
        BOOST_TEST(to_hex(muster::seal_repeatably(key, plain, "context")) == sealed);
        BOOST_TEST((muster::open_repeatable(key, *muster::from_hex(sealed), "context") == plain));
        BOOST_TEST(!muster::open_repeatable(key, *muster::from_hex(sealed), "contexts"));
    }
    BOOST_CHECK_THROW((void)muster::seal_repeatably(key, "", "context"), std::runtime_error);
    BOOST_CHECK_THROW((void)muster::seal_repeatably(key, "hush", ""), std::runtime_error);
    BOOST_CHECK_THROW((void)muster::seal_repeatably(Secret("k"), "hush", "c"), std::runtime_error);
    BOOST_TEST(!muster::open_repeatable(key, std::string(16, 'x'), "context"));
}

BOOST_AUTO_TEST_CASE(digests_of_one_thread_do_not_depend_on_another_thread_or_on_a_fork) {
    const std::string_view abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const std::string_view jefe =
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    const auto are_right = [&] {
        for (int i = 0; i < 2000; ++i) {
            if (to_hex(sha256("abc")) != abc) return false;
            if (to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")) != jefe) return false;
        }
        return true;
    };
    bool is_other_right = false;
    std::thread other([&] { is_other_right = are_right(); });
    BOOST_TEST(are_right());
    other.join();
    BOOST_TEST(is_other_right);
    const pid_t child = fork();
    if (child == 0) _exit(are_right() ? 0 : 1);
    int status = 1;
    BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(random_digits_are_uniformly_distributed) {
    BOOST_TEST(random_digits(0).reveal() == "");
    BOOST_TEST(random_digits(8).reveal().size() == 8U);
    constexpr std::size_t kDraws = 100'000;
    const Secret drawn = random_digits(kDraws);
    std::array<std::size_t, 10> met{};
    BOOST_TEST_REQUIRE(drawn.reveal().size() == kDraws);
    BOOST_TEST_REQUIRE(drawn.reveal().find_first_not_of("0123456789") == std::string::npos);
    for (const char c : drawn.reveal()) ++met.at(static_cast<std::size_t>(c - '0'));
    // 10,000 ± 95 is one standard deviation; a byte taken modulo ten would give six of the digits
    // 10,156 and four 9,766, so the bounds only catch a digit that is left out or doubled.
    for (std::size_t digit = 0; digit < met.size(); ++digit) {
        BOOST_TEST(met.at(digit) > 9'400U, digit);
        BOOST_TEST(met.at(digit) < 10'600U, digit);
    }
    std::set<std::string> codes;
    for (int i = 0; i < 1000; ++i) codes.insert(random_digits(20).reveal());
    BOOST_TEST(codes.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(comparison_sees_every_difference) {
    BOOST_TEST(equal_in_constant_time("", ""));
    BOOST_TEST(equal_in_constant_time("abc", "abc"));
    BOOST_TEST(!equal_in_constant_time("abc", "abcd"));
    BOOST_TEST(!equal_in_constant_time("abc", ""));
    BOOST_TEST(!equal_in_constant_time("", std::string_view("\0", 1)));
    const std::string text(32, 'x');
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string other = text;
        other[at] = 'y';
        BOOST_TEST(!equal_in_constant_time(text, other), at);
    }
}

BOOST_AUTO_TEST_CASE(random_bytes_fill_the_whole_buffer_and_differ) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        std::string bytes(32, '\0');
        muster::random_bytes(bytes.data(), bytes.size());
        seen.insert(bytes);
    }
    BOOST_TEST(seen.size() == 100U);
    std::array<bool, 256> met{};
    std::string bytes(1U << 16U, '\0');
    muster::random_bytes(bytes.data(), bytes.size());
    for (const char c : bytes) met[static_cast<unsigned char>(c)] = true;
    for (std::size_t c = 0; c < met.size(); ++c) BOOST_TEST(met[c], c);
    muster::random_bytes(bytes.data(), 0);
}

BOOST_AUTO_TEST_CASE(a_secret_cannot_be_written_to_a_stream) {
    static_assert(Streamable<std::string>);
    static_assert(!Streamable<Secret>);
    static_assert(!std::is_convertible_v<Secret, std::string>);
    static_assert(!std::is_convertible_v<std::string, Secret>);
    const Secret secret("hush");
    BOOST_TEST(secret.reveal() == "hush");
    BOOST_TEST(!secret.empty());
    BOOST_TEST(Secret().empty());
}

BOOST_AUTO_TEST_CASE(a_secret_can_be_copied_and_moved) {
    Secret secret("hush, this one is longer than a short string");
    Secret copy = secret;
    BOOST_TEST(copy.reveal() == secret.reveal());
    const Secret moved = std::move(copy);
    BOOST_TEST(moved.reveal() == secret.reveal());
    secret = Secret("another");
    BOOST_TEST(secret.reveal() == "another");
}

BOOST_AUTO_TEST_CASE(a_new_credential_is_a_prefix_and_49_base62_characters) {
    for (const std::string_view prefix : {"org_", "ek_live_", "ck_live_", "mk_live_", ""}) {
        const Secret credential = create_credential(prefix);
        const std::string& text = credential.reveal();
        BOOST_TEST(text.starts_with(prefix));
        BOOST_TEST(text.size() == prefix.size() + 43 + 6);
        BOOST_TEST(text.find_first_not_of(kBase62, prefix.size()) == std::string::npos);
        BOOST_TEST(is_credential(prefix, text));
    }
}

BOOST_AUTO_TEST_CASE(a_signing_secret_is_its_prefix_and_43_base62_characters) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const Secret secret = muster::create_signing_secret("mks_");
        const std::string& text = secret.reveal();
        BOOST_TEST_REQUIRE(text.starts_with("mks_"));
        BOOST_TEST_REQUIRE(text.size() == 4U + 43U);
        BOOST_TEST_REQUIRE(text.find_first_not_of(kBase62, 4) == std::string::npos);
        seen.insert(text);
    }
    BOOST_TEST(seen.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(new_credentials_differ) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(create_credential("org_").reveal());
    BOOST_TEST(seen.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(a_credential_with_another_prefix_is_rejected) {
    const Secret credential = create_credential("ek_live_");
    const std::string& text = credential.reveal();
    BOOST_TEST(!is_credential("ck_live_", text));
    BOOST_TEST(!is_credential("mk_live_", text));
    BOOST_TEST(!is_credential("org_", text));
    BOOST_TEST(!is_credential("ck_live_", "ck_live_" + text.substr(8)));
    BOOST_TEST(!is_credential("EK_LIVE_", text));
}

BOOST_AUTO_TEST_CASE(a_mistyped_character_fails_the_checksum) {
    constexpr std::string_view kOther = "0Zz_ -\n=";
    const Secret credential = create_credential("org_");
    const std::string& text = credential.reveal();
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const char c : kOther) {
            if (c == text[at]) continue;
            std::string changed = text;
            changed[at] = c;
            BOOST_TEST(!is_credential("org_", changed), "character " << at);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_credential_of_another_length_is_rejected) {
    const Secret credential = create_credential("org_");
    const std::string& text = credential.reveal();
    for (std::size_t size = 0; size < text.size(); ++size) {
        BOOST_TEST(!is_credential("org_", text.substr(0, size)), size);
    }
    BOOST_TEST(!is_credential("org_", text + "0"));
    BOOST_TEST(!is_credential("org_", " " + text));
    BOOST_TEST(!is_credential("org_", text + text));
    BOOST_TEST(!is_credential("org_", "org_" + std::string(49, '0')));
}

// RFC 4648, section 10.
BOOST_AUTO_TEST_CASE(base64_matches_the_published_texts_and_rejects_others) {
    const std::vector<std::pair<std::string, std::string>> table = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xfb\xff", "+/8="}};
    for (const auto& [bytes, text] : table) {
        BOOST_TEST(muster::to_base64(bytes) == text);
        BOOST_TEST(muster::from_base64(text).value() == bytes);
    }
    for (const std::string text : {"Z", "Zg", "Zg=", "Zg===", "Zh==", " Zg==", "Zg==\n",
                                   "Zm9v=", "-_8=", "====", "=", "Zm=v", "Z!9v",
                                   "Zm9vZg=="
                                   "Zg=="}) {
        BOOST_TEST(!muster::from_base64(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
