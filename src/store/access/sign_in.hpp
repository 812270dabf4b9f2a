// Sign-in codes sent by mail, and limits on guessing them (tables otp_codes, guess_budgets).
// `subject` is the HMAC of an email address, so the address itself is not stored.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::store {

struct OtpCode {
    std::string code_hash;
    std::int64_t failures = 0;
    Timestamp expires_at;
};
// Replaces the subject's code; a subject has one code.
void replace_otp_code(db::Tx& tx, std::string_view subject, const OtpCode& code);
// Locked until the transaction ends.
std::optional<OtpCode> lock_otp_code(db::Tx& tx, std::string_view subject);
void set_otp_failures(db::Tx& tx, std::string_view subject, std::int64_t failures);
void delete_otp_code(db::Tx& tx, std::string_view subject);

// Locks the budget until the transaction ends and returns its packed attempts. `kind` is
// "otp_request", "otp_verify", "webhook_notice", "security_notice" or "invitation". A missing row
// is created first, so that two simultaneous first attempts also wait for each other.
std::string lock_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject);
void write_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject,
                        std::string_view spent, Timestamp expires_at);

}  // namespace muster::store
