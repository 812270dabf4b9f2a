#include "store/access/sign_in.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::or_empty;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kCode = columns<OtpCode>(column<&OtpCode::code_hash>("code_hash"),
                                        column<&OtpCode::failures>("failures"),
                                        column<&OtpCode::expires_at>("expires_at"));

}  // namespace

void replace_otp_code(db::Tx& tx, std::string_view subject, const OtpCode& code) {
    static constexpr SystemSql kReplace{
        "otp_codes.replace", Why{"an admin who signs in has no tenant yet"},
        "INSERT INTO otp_codes (subject, code_hash, failures, expires_at) VALUES (?, ?, ?, ?) "
        "ON DUPLICATE KEY UPDATE code_hash = VALUES(code_hash), failures = VALUES(failures), "
        "expires_at = VALUES(expires_at)"};
    tx.execute(kReplace, subject, code.code_hash, code.failures, code.expires_at);
}

std::optional<OtpCode> lock_otp_code(db::Tx& tx, std::string_view subject) {
    static constexpr SystemSql kLock{
        "otp_codes.lock", Why{"an admin who signs in has no tenant yet"}, kCode,
        "SELECT {columns} FROM otp_codes WHERE subject = ? FOR UPDATE"};
    return tx.one(kLock, subject);
}

void set_otp_failures(db::Tx& tx, std::string_view subject, std::int64_t failures) {
    static constexpr SystemSql kSet{"otp_codes.set_failures",
                                    Why{"an admin who signs in has no tenant yet"},
                                    "UPDATE otp_codes SET failures = ? WHERE subject = ?"};
    tx.execute(kSet, failures, subject);
}

void delete_otp_code(db::Tx& tx, std::string_view subject) {
    static constexpr SystemSql kDelete{"otp_codes.delete",
                                       Why{"an admin who signs in has no tenant yet"},
                                       "DELETE FROM otp_codes WHERE subject = ?"};
    tx.execute(kDelete, subject);
}

std::string lock_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject) {
    // The update changes nothing, but it locks an existing row.
    static constexpr SystemSql kMake{
        "guess_budgets.make", Why{"an admin who signs in has no tenant yet"},
        "INSERT INTO guess_budgets (kind, subject, spent, expires_at) VALUES (?, ?, '', 0) "
        "ON DUPLICATE KEY UPDATE kind = guess_budgets.kind"};
    static constexpr SystemSql kLock{
        "guess_budgets.lock", Why{"an admin who signs in has no tenant yet"},
        "SELECT spent FROM guess_budgets WHERE kind = ? AND subject = ? FOR UPDATE"};
    tx.execute(kMake, kind, subject);
    return or_empty(tx.one<std::string>(kLock, kind, subject));
}

void write_guess_budget(db::Tx& tx, std::string_view kind, std::string_view subject,
                        std::string_view spent, Timestamp expires_at) {
    static constexpr SystemSql kWrite{
        "guess_budgets.write", Why{"an admin who signs in has no tenant yet"},
        "UPDATE guess_budgets SET spent = ?, expires_at = ? WHERE kind = ? AND subject = ?"};
    tx.execute(kWrite, spent, expires_at, kind, subject);
}

}  // namespace muster::store
