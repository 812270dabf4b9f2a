// rules/ads/token.hpp: a token is read as it was written, and cannot be forged.
#include "rules/ads/token.hpp"

#include "base/sealing.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <vector>

using namespace muster;
using rules::AdToken;
using rules::AdTokenKind;
using rules::decode_ad_token;
using rules::encode_ad_token;

namespace {

const Secret kKey(std::string(32, 'k'));
const std::vector<Secret> kKeys{kKey};

AdToken token(AdTokenKind kind = AdTokenKind::Click) {
    return {kind,
            OrgId::create(),
            ServingId::create(),
            CampaignId::create(),
            CreativeId::create(),
            Timestamp(1'800'000'000'000)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ad_token)

BOOST_AUTO_TEST_CASE(a_token_is_read_as_it_was_written) {
    for (const auto kind : {AdTokenKind::Impression, AdTokenKind::Click}) {
        const AdToken sent = token(kind);
        const std::string text = encode_ad_token(kKey, sent);
        BOOST_TEST(text.size() == 142U);
        BOOST_TEST((decode_ad_token(kKeys, kind, text) == sent));
    }
}

BOOST_AUTO_TEST_CASE(an_impression_token_is_not_a_click_token) {
    BOOST_TEST(!decode_ad_token(kKeys, AdTokenKind::Click,
                                encode_ad_token(kKey, token(AdTokenKind::Impression))));
    BOOST_TEST(!decode_ad_token(kKeys, AdTokenKind::Impression, encode_ad_token(kKey, token())));
}

BOOST_AUTO_TEST_CASE(a_token_with_any_changed_bit_is_rejected) {
    const std::string bytes = *from_base64url(encode_ad_token(kKey, token()));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string changed = bytes;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        BOOST_TEST(!decode_ad_token(kKeys, AdTokenKind::Click, to_base64url(changed)), bit);
    }
}

BOOST_AUTO_TEST_CASE(a_truncated_or_extended_token_is_rejected) {
    const std::string text = encode_ad_token(kKey, token());
    for (std::size_t length = 0; length < text.size(); ++length) {
        BOOST_TEST(!decode_ad_token(kKeys, AdTokenKind::Click, text.substr(0, length)));
    }
    for (const char* more : {"A", "AA", "=", " ", "/"}) {
        BOOST_TEST(!decode_ad_token(kKeys, AdTokenKind::Click, text + more));
    }
}

BOOST_AUTO_TEST_CASE(the_previous_key_opens_a_token_and_any_other_key_does_not) {
    const KeyRing before(Secret(std::string(32, 'a')));
    const KeyRing rotating(Secret(std::string(32, 'b')), Secret(std::string(32, 'a')));
    const KeyRing after(Secret(std::string(32, 'b')));
    const std::string old = encode_ad_token(before.derive("ads"), token());
    const std::string young = encode_ad_token(rotating.derive("ads"), token());
    const auto opens = [](const KeyRing& keys, const std::string& text) {
        return decode_ad_token(keys.derive_all("ads"), AdTokenKind::Click, text).has_value();
    };
    BOOST_TEST(opens(before, old));
    BOOST_TEST(opens(rotating, old));
    BOOST_TEST(opens(rotating, young));
    BOOST_TEST(opens(after, young));
    BOOST_TEST(!opens(after, old));
    BOOST_TEST(!opens(before, young));
    BOOST_TEST(!decode_ad_token(rotating.derive_all("cursors"), AdTokenKind::Click, young));
}

BOOST_AUTO_TEST_SUITE_END()
