#include "rules/access/totp.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

constexpr std::size_t kSecretBytes = 20;
constexpr std::int64_t kStepMilliseconds = 30'000;
constexpr std::size_t kBackupBytes = 15;
constexpr std::size_t kBackupGroup = 4;

std::string random_secret(std::size_t bytes) {
    std::string secret(bytes, '\0');
    random_bytes(secret.data(), secret.size());
    return secret;
}

}  // namespace

Secret create_totp_secret() {
    return Secret(random_secret(kSecretBytes));
}

std::string totp_uri(const Secret& secret, std::string_view account) {
    return "otpauth://totp/Muster:" + percent_encoded(account) +
           "?secret=" + to_base32(secret.reveal()) +
           "&issuer=Muster&algorithm=SHA1&digits=6&period=30";
}

std::int64_t totp_step(Timestamp when) {
    return when.milliseconds() / kStepMilliseconds;
}

Secret totp_code(const Secret& secret, std::int64_t step) {
    std::string counter(8, '\0');
    for (std::size_t i = 0; i < counter.size(); ++i) {
        counter[counter.size() - 1 - i] =
            static_cast<char>(static_cast<std::uint64_t>(step) >> 8U * i & 0xffU);
    }
    // RFC 4226 section 5.3: four bytes at an offset that the last byte gives.
    const std::string mac = hmac_sha1(secret.reveal(), counter);
    const auto place = static_cast<std::size_t>(mac.back() & 0xf);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = value << 8U | static_cast<unsigned char>(mac[place + i]);
    }
    const std::string digits = std::to_string((value & 0x7fffffffU) % kTotpCodes);
    return Secret(std::string(6 - digits.size(), '0') + digits);
}

bool is_totp_code(std::string_view code) {
    constexpr std::size_t kDigits = 6;
    return code.size() == kDigits &&
           std::all_of(code.begin(), code.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> matching_totp_step(const Secret& secret, std::string_view code,
                                               Timestamp now, std::int64_t last_step) {
    std::optional<std::int64_t> found;
    for (auto shift = -kTotpStepsEitherWay; shift <= kTotpStepsEitherWay; ++shift) {
        const std::int64_t step = totp_step(now) + shift;
        const bool matches = equal_in_constant_time(totp_code(secret, step).reveal(), code);
        if (matches && step > last_step) found = step;
    }
    return found;
}

std::vector<Secret> create_backup_codes() {
    std::vector<Secret> codes;
    for (std::size_t i = 0; i < kBackupCodes; ++i) {
        std::string letters = to_base32(random_secret(kBackupBytes));
        ascii_lower(letters);
        std::string code;
        for (std::size_t place = 0; place < letters.size(); ++place) {
            if (place > 0 && place % kBackupGroup == 0) code += '-';
            code += letters[place];
        }
        codes.emplace_back(std::move(code));
    }
    return codes;
}

std::string backup_code_hash(AdminId admin, std::string_view typed) {
    std::string code(typed);
    std::erase_if(code, [](char c) { return c == '-' || c == ' '; });
    ascii_lower(code);
    return sha256(std::string(admin.bytes()) + code);
}

}  // namespace muster::rules
