// Sign-in codes sent by mail, and the budgets of guessing them (tables otp_codes, guess_budgets).
// `subject` is the HMAC of an address of mail: what was tried is kept, by whom is not.
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
// The subject's one code; takes the place of the one before.
void replace_otp_code(db::Tx& tx, std::string_view subject, const OtpCode& code);
// Locked until the transaction ends.
std::optional<OtpCode> lock_otp_code(db::Tx& tx, std::string_view subject);
void set_otp_failures(db::Tx& tx, std::string_view subject, std::int64_t failures);
void delete_otp_code(db::Tx& tx, std::string_view subject);

// "otp_request", "otp_verify" or, of an organization, "webhook_notice": what was spent, locked
// until the transaction ends; the row is made if need be, so that the first two to come wait for
// each other too.
std::string lock_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject);
void write_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject,
                        std::string_view spent, Timestamp expires_at);

}  // namespace muster::store
