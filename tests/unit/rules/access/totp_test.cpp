// rules/access/totp.hpp: the codes of RFC 6238, each accepted once, and backup codes.
#include "rules/access/totp.hpp"

#include "base/text.hpp"

#include "print.hpp"

#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace muster;
using namespace muster::rules;

namespace {

const Secret kSecret("12345678901234567890");  // RFC 6238, appendix B
constexpr std::int64_t kStep = 1'000;
constexpr Timestamp kNow{kStep * 30'000 + 12'345};

std::string code_of(std::int64_t step) {
    return totp_code(kSecret, step).reveal();
}
std::optional<std::int64_t> match(const std::string& code, std::int64_t last_step = 0) {
    return matching_totp_step(kSecret, code, kNow, last_step);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(totp)

BOOST_AUTO_TEST_CASE(codes_are_the_last_six_digits_of_those_in_rfc_6238) {
    const std::vector<std::pair<std::int64_t, std::string_view>> table = {
        {59, "287082"},
        {1'111'111'109, "081804"},
        {1'111'111'111, "050471"},
        {1'234'567'890, "005924"},
        {2'000'000'000, "279037"},
        {20'000'000'000, "353130"},
    };
    for (const auto& [seconds, code] : table) {
        BOOST_TEST(code_of(totp_step(Timestamp(seconds * 1000))) == code);
    }
}

BOOST_AUTO_TEST_CASE(a_step_is_thirty_seconds_since_1970) {
    BOOST_TEST(totp_step(Timestamp(0)) == 0);
    BOOST_TEST(totp_step(Timestamp(29'999)) == 0);
    BOOST_TEST(totp_step(Timestamp(30'000)) == 1);
    BOOST_TEST(totp_step(Timestamp(20'000'000'000'000)) == 666'666'666);
}

BOOST_AUTO_TEST_CASE(a_code_is_valid_in_its_step_and_in_the_adjacent_steps) {
    for (std::int64_t step = kStep - 3; step <= kStep + 3; ++step) {
        const auto found = match(code_of(step));
        const bool is_near = step >= kStep - 1 && step <= kStep + 1;
        BOOST_TEST(found == (is_near ? std::optional(step) : std::nullopt), step);
    }
}

BOOST_AUTO_TEST_CASE(no_step_up_to_the_last_used_one_is_accepted_again) {
    BOOST_TEST(!match(code_of(kStep), kStep).has_value());
    BOOST_TEST(!match(code_of(kStep - 1), kStep).has_value());
    BOOST_TEST(!match(code_of(kStep - 1), kStep - 1).has_value());
    BOOST_TEST(match(code_of(kStep), kStep - 1) == kStep);
    BOOST_TEST(match(code_of(kStep + 1), kStep) == kStep + 1);
    BOOST_TEST(!match(code_of(kStep + 1), kStep + 1).has_value());
    BOOST_TEST(!match(code_of(kStep + 1), kStep + 100).has_value());
}

BOOST_AUTO_TEST_CASE(any_other_code_is_rejected) {
    const std::string code = code_of(kStep);
    for (const std::string& wrong : {std::string(), code.substr(1), code + "0", " " + code,
                                     "0" + code, std::string(6, '\0'), std::string("abcdef")}) {
        BOOST_TEST(!match(wrong).has_value());
    }
    BOOST_TEST(!matching_totp_step(Secret("another secret of 20"), code, kNow, 0).has_value());
    BOOST_TEST(!match(totp_code(Secret(""), kStep).reveal()).has_value());
}

BOOST_AUTO_TEST_CASE(a_code_has_six_digits_at_any_step) {
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40,
                                    std::numeric_limits<std::int64_t>::max()}) {
        const std::string code = code_of(step);
        BOOST_TEST(code.size() == 6U);
        BOOST_TEST(code.find_first_not_of("0123456789") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_new_secret_has_160_random_bits) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const Secret secret = create_totp_secret();
        BOOST_TEST(secret.reveal().size() == 20U);
        seen.insert(secret.reveal());
    }
    BOOST_TEST(seen.size() == 100U);
}

BOOST_AUTO_TEST_CASE(an_authenticator_reads_secret_and_account_from_the_uri) {
    BOOST_TEST(totp_uri(kSecret, "ada@example.org") ==
               "otpauth://totp/Muster:ada%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
               "&issuer=Muster&algorithm=SHA1&digits=6&period=30");
    const std::string hostile = totp_uri(kSecret, "a&secret=x?#/:% \"\u00e4@b.org");
    BOOST_TEST(hostile.starts_with(
        "otpauth://totp/Muster:a%26secret%3Dx%3F%23%2F%3A%25%20%22%C3%A4%40b.org?secret="));
}

// ---------------------------------------------------------------------------- backup codes

BOOST_AUTO_TEST_CASE(there_are_ten_backup_codes_of_120_bits_in_groups_of_four) {
    std::set<std::string> seen;
    for (int i = 0; i < 20; ++i) {
        const auto codes = create_backup_codes();
        BOOST_TEST_REQUIRE(codes.size() == kBackupCodes);
        for (const Secret& code : codes) {
            const auto groups = split(code.reveal(), '-');
            BOOST_TEST_REQUIRE(groups.size() == 6U);
            for (const std::string_view group : groups) {
                BOOST_TEST(group.size() == 4U);
                BOOST_TEST(group.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") ==
                           std::string_view::npos);
            }
            seen.insert(code.reveal());
        }
    }
    BOOST_TEST(seen.size() == 200U);
}

// Codes that were issued before they had 120 bits remain valid until they are used.
BOOST_AUTO_TEST_CASE(the_hash_of_a_backup_code_of_80_bits_remains_the_same) {
    const auto admin = AdminId::parse("01890a5d-ac96-774b-bcce-b302099a8057").value();
    BOOST_TEST(to_hex(backup_code_hash(admin, "ABCD-efgh ijkl-mn27")) ==
               "e63b9ef6582d55d5cd83f7ddd0a7f46dbec2e95f9cade4f25c5668b16949a52b");
}

BOOST_AUTO_TEST_CASE(case_spaces_and_dashes_of_a_typed_backup_code_are_ignored) {
    const AdminId admin = AdminId::create();
    const std::string hash = backup_code_hash(admin, "abcd-efgh-ijkl-mn27");
    BOOST_TEST(hash.size() == 32U);
    for (const std::string_view typed :
         {"ABCD-EFGH-IJKL-MN27", "abcdefghijklmn27", " abcd efgh ijkl mn27 ",
          "a-b-c-d-e-f-g-h-i-j-k-l-m-n-2-7", "AbCdEfGh-IJKL mn27"}) {
        BOOST_TEST(backup_code_hash(admin, typed) == hash, typed);
    }
    for (const std::string_view other :
         {"", "abcd-efgh-ijkl-mn2", "abcd-efgh-ijkl-mn277", "abcd_efgh_ijkl_mn27",
          "bacd-efgh-ijkl-mn27", "abcd\tefgh-ijkl-mn27"}) {
        BOOST_TEST(backup_code_hash(admin, other) != hash, other);
    }
    BOOST_TEST(backup_code_hash(AdminId::create(), "abcd-efgh-ijkl-mn27") != hash);
}

BOOST_AUTO_TEST_CASE(a_code_of_an_authenticator_has_six_digits_and_a_backup_code_has_not) {
    for (const char* code : {"000000", "123456"}) BOOST_TEST(is_totp_code(code), code);
    for (const char* code : {"", "12345", "1234567", "12345a", " 23456", "-23456", "123 456"}) {
        BOOST_TEST(!is_totp_code(code), code);
    }
    for (const Secret& code : create_backup_codes()) BOOST_TEST(!is_totp_code(code.reveal()));
}

BOOST_AUTO_TEST_SUITE_END()
