// The fixture of the tests of service/access/two_factor.hpp.
#pragma once

#include "service/access/two_factor.hpp"

#include "db/admins.hpp"
#include "rules/access/totp.hpp"

#include <set>
#include <string>
#include <string_view>

namespace muster::test {

// Decodes RFC 4648 base32.
inline std::string from_base32(std::string_view text) {
    std::string bytes;
    unsigned bits = 0;
    unsigned value = 0;
    for (const char c : text) {
        value = value << 5U | static_cast<unsigned>(c >= 'A' ? c - 'A' : c - '2' + 26);
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(value >> bits & 0xffU);
    }
    return bytes;
}

struct TwoFactor : AdminFixture {
    service::Enrollment enable(const Secret& token) {
        return service::enable_two_factor(context, session_of(token).value());
    }
    service::Enrollment enable() { return enable(opened.token); }

    // The code of the current step, or of an adjacent one.
    static std::string code(const service::Enrollment& made, int shift = 0) {
        const Secret secret(from_base32(made.secret.reveal()));
        return rules::totp_code(secret, rules::totp_step(Timestamp::now()) + shift).reveal();
    }
    static std::string wrong(const service::Enrollment& made) {
        std::set<std::string> good;
        for (int shift = -2; shift <= 3; ++shift) good.insert(code(made, shift));
        std::string guess = "000000";
        while (good.contains(guess)) ++guess.back();
        return guess;
    }
    bool verify(const Secret& token, std::string_view totp) {
        return service::verify_totp(context, {session_of(token).value(), totp, "req-2"}).is_right;
    }
    bool verify(std::string_view totp) { return verify(opened.token, totp); }
    bool use(const Secret& token, std::string_view backup) {
        return service::verify_backup_code(context, {session_of(token).value(), backup, "req-3"})
            .is_right;
    }
    bool use(std::string_view backup) { return use(opened.token, backup); }
    bool is_verified(const Secret& token) { return session_of(token)->verified_at.has_value(); }
    // As if the last code had been used long ago.
    void forget_last_step() { client.run("UPDATE admins SET totp_last_step = 0"); }

    // Enrolled, with the last step cleared.
    service::Enrollment enrolled() {
        auto made = enable();
        BOOST_TEST_REQUIRE(verify(code(made)));
        forget_last_step();
        return made;
    }
    std::int64_t backup_codes() { return client.number("SELECT COUNT(*) FROM backup_codes"); }

    service::NewSession opened = sign_in();
};

}  // namespace muster::test
