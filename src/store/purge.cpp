#include "store/purge.hpp"

#include "rules/ads.hpp"

#include <string>

namespace muster::store {

using db::SystemSql;
using db::Why;

namespace {

// An id that comes after all that were made up to this moment, and well after it: two clocks need
// not agree.
std::string id_after(Timestamp when) {
    constexpr Milliseconds kMargin{24L * 3600 * 1000};
    constexpr std::size_t kTimeBytes = 6;
    std::string id(Uuid::kBytes, '\xff');
    std::int64_t time = (when + kMargin).milliseconds();
    for (std::size_t i = kTimeBytes; i-- > 0; time >>= 8) id[i] = static_cast<char>(time & 0xff);
    return id;
}

}  // namespace

std::int64_t purge_otp_codes(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.otp_codes", Why{"a sign-in code has no tenant"},
                                      "DELETE FROM otp_codes WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

std::int64_t purge_guess_budgets(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.guess_budgets", Why{"a guess budget has no tenant"},
                                      "DELETE FROM guess_budgets WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

std::int64_t purge_sessions(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.sessions",
                                      Why{"a session is an admin's, of no tenant"},
                                      "DELETE FROM sessions WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

std::int64_t purge_mails(db::Tx& tx, Timestamp now, int limit) {
    // No attempt is ever put off beyond expires_at, so the index on next_attempt_at finds them all.
    static constexpr SystemSql kPurge{
        "purge.mails", Why{"mail goes to admins, who belong to no tenant"},
        "DELETE FROM mail_outbox WHERE next_attempt_at <= ? AND expires_at <= ? "
        "AND lease_until <= ? LIMIT ?"};
    return tx.execute(kPurge, now, now, now, limit);
}

std::int64_t purge_revoked_api_keys(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.api_keys",
                                      Why{"retention is the installation's, not a tenant's"},
                                      "DELETE FROM api_keys WHERE revoked_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_webhook_events(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.webhook_events",
                                      Why{"retention is the installation's, not a tenant's"},
                                      "DELETE FROM webhook_events WHERE created_at <= ? "
                                      "ORDER BY created_at LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_ad_redemptions(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.ad_redemptions",
                                      Why{"retention is the installation's, not a tenant's"},
                                      "DELETE FROM ad_redemptions WHERE redeemed_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_ad_member_days(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.ad_member_days",
                                      Why{"retention is the installation's, not a tenant's"},
                                      "DELETE FROM ad_member_days WHERE day < ? LIMIT ?"};
    return tx.execute(kPurge, rules::ad_day_of(now), limit);
}

std::int64_t purge_revoked_module_credentials(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{
        "purge.module_credentials", Why{"retention is the installation's, not a tenant's"},
        "DELETE FROM module_credentials WHERE revoked_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_revoked_publishable_keys(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.publishable_keys",
                                      Why{"retention is the installation's, not a tenant's"},
                                      "DELETE FROM publishable_keys WHERE revoked_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_previous_secrets(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{
        "purge.previous_secrets", Why{"retention is the installation's, not a tenant's"},
        "UPDATE webhook_endpoints SET previous_secret = NULL, previous_secret_until = NULL "
        "WHERE previous_secret_until <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

std::int64_t purge_audit_log(db::Tx& tx, Timestamp until, int limit) {
    // Ids ascend with time: the primary key keeps this from reading what is younger.
    static constexpr SystemSql kPurge{
        "purge.audit_log", Why{"retention is the installation's, not a tenant's"},
        "DELETE FROM audit_log WHERE id < ? AND created_at <= ? LIMIT ?"};
    return tx.execute(kPurge, id_after(until), until, limit);
}

}  // namespace muster::store
