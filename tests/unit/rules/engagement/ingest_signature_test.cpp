// rules/engagement/ingest_signature.hpp: the format of a signature, and the rejection of everything
// else.
#include "rules/engagement/ingest_signature.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using namespace muster;
using rules::parse_ingest_signature;

namespace {

const Secret kSecret("mks_secret");
const std::string kKey = "key";
const std::string kBody = R"({"events":[]})";
constexpr std::int64_t kSeconds = 1'763'700'000;
constexpr Timestamp kNow{kSeconds * 1000};

std::string digest_of(const Secret& secret, const std::string& text) {
    return to_hex(hmac_sha256(secret.reveal(), text));
}
std::string right_digest() {
    return digest_of(kSecret, std::to_string(kSeconds) + "." + kKey + "." + kBody);
}
std::string header(std::int64_t seconds, const std::string& digest) {
    return "t=" + std::to_string(seconds) + ",v1=" + digest;
}
bool is_good(const std::string& text, const Secret& secret = kSecret, const std::string& key = kKey,
             const std::string& body = kBody) {
    const auto signature = parse_ingest_signature(text);
    return signature && rules::is_signed_by(secret, *signature, key, body);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ingest_signature)

BOOST_AUTO_TEST_CASE(a_digest_computed_elsewhere_is_accepted) {
    // openssl dgst -sha256 -hmac mks_secret over "1763700000.key.{"events":[]}"
    BOOST_TEST(right_digest() ==
               "b62f9d39afc0a4b3618ebc9ea7645ebf52a3df1f0697758670124937c7c02489");
    BOOST_TEST(is_good(header(kSeconds, right_digest())));
}

BOOST_AUTO_TEST_CASE(every_signed_part_changes_the_digest) {
    const std::string text = header(kSeconds, right_digest());
    BOOST_TEST(!is_good(text, Secret("mks_secreT")));
    BOOST_TEST(!is_good(text, Secret("secret")));
    BOOST_TEST(!is_good(text, kSecret, "Key"));
    BOOST_TEST(!is_good(text, kSecret, kKey, kBody + " "));
    BOOST_TEST(!is_good(text, kSecret, kKey, ""));
    BOOST_TEST(!is_good(header(kSeconds + 1, right_digest())));
    // The timestamp is signed in its written form.
    BOOST_TEST(!is_good("t=0" + std::to_string(kSeconds) + ",v1=" + right_digest()));
    std::string flipped = right_digest();
    for (char& digit : flipped) {
        const char kept = digit;
        digit = digit == '0' ? '1' : '0';
        BOOST_TEST(!is_good(header(kSeconds, flipped)));
        digit = kept;
    }
}

BOOST_AUTO_TEST_CASE(one_valid_digest_of_several_is_enough) {
    const std::string wrong = ",v1=" + std::string(64, '0');
    const std::string right = ",v1=" + right_digest();
    const std::string moment = "t=" + std::to_string(kSeconds);
    BOOST_TEST(is_good(moment + wrong + right));
    BOOST_TEST(is_good(moment + right + wrong + wrong));
    BOOST_TEST(!is_good(moment + wrong + wrong));
    std::string upper = right_digest();
    ascii_upper(upper);
    BOOST_TEST(is_good(header(kSeconds, upper)));
}

BOOST_AUTO_TEST_CASE(the_window_is_exactly_300_seconds_in_both_directions) {
    const auto signature = parse_ingest_signature(header(kSeconds, right_digest()));
    BOOST_TEST_REQUIRE(signature.has_value());
    BOOST_TEST(signature->when == kNow);
    const Milliseconds edge{300'000};
    const Milliseconds tick{1};
    for (const Timestamp inside : {kNow, kNow + edge, kNow - edge}) {
        BOOST_TEST(rules::is_recent(*signature, inside));
    }
    for (const Timestamp outside : {kNow + edge + tick, kNow - edge - tick, Timestamp(0)}) {
        BOOST_TEST(!rules::is_recent(*signature, outside));
    }
}

BOOST_AUTO_TEST_CASE(a_malformed_header_is_rejected) {
    const std::string digest(64, 'a');
    const std::vector<std::string> malformed = {std::string(),
                                                std::string(","),
                                                std::string("t=1"),
                                                "v1=" + digest,
                                                digest,
                                                "v1=" + digest + ",t=1",
                                                "t=,v1=" + digest,
                                                "t=+1,v1=" + digest,
                                                "t=-1,v1=" + digest,
                                                "t= 1,v1=" + digest,
                                                "t=1 ,v1=" + digest,
                                                " t=1,v1=" + digest,
                                                "t=1, v1=" + digest,
                                                "t=1,v1=" + digest + " ",
                                                "t=1.0,v1=" + digest,
                                                "t=1e3,v1=" + digest,
                                                "t=0x1,v1=" + digest,
                                                "t=1,t=1,v1=" + digest,
                                                "t=1,v1=" + digest + ",t=1",
                                                "t=1,v1=" + digest + ",",
                                                "t=1,,v1=" + digest,
                                                "t=1,v1=",
                                                "t=1,v1=" + digest + "a",
                                                "t=1,v1=" + digest.substr(1),
                                                "t=1,v1=" + digest.substr(2),
                                                "t=1,v1=" + digest + "aa",
                                                "t=1,v1=g" + digest.substr(1),
                                                "t=1,v0=" + digest,
                                                "t=1,v1=" + digest + ",v0=" + digest,
                                                "T=1,v1=" + digest,
                                                "t=1,V1=" + digest,
                                                "t=1;v1=" + digest,
                                                "t:1,v1:" + digest,
                                                "t=" + std::string(16, '9') + ",v1=" + digest,
                                                "t=" + std::string(999, '1') + ",v1=" + digest,
                                                std::string("t=1\0,v1=", 8) + digest,
                                                "t=1,v1=" + digest + "\n",
                                                "t=1,v1=\"" + digest + "\"",
                                                "t=\u0661,v1=" + digest};
    for (const std::string& bad : malformed) {
        BOOST_TEST(!parse_ingest_signature(bad).has_value(), bad);
    }
    BOOST_TEST(parse_ingest_signature("t=0,v1=" + digest).has_value());
    BOOST_TEST(parse_ingest_signature("t=" + std::string(15, '9') + ",v1=" + digest).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
