#include "store/operations/purge.hpp"

#include "rules/ads/ads.hpp"

#include <string>

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

// An id that comes after all that were made up to this moment, and well after it: the row's own
// time was read by another clock, or a while before.
std::string id_after(Timestamp when, Milliseconds margin) {
    constexpr std::size_t kTimeBytes = 6;
    std::string id(Uuid::kBytes, '\xff');
    std::int64_t time = (when + margin).milliseconds();
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
    return tx.execute(kPurge, id_after(until, std::chrono::days(1)), until, limit);
}

std::int64_t purge_connection_authorizations(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{
        "purge.connection_authorizations", Why{"retention is the installation's, not a tenant's"},
        "DELETE FROM connection_authorizations WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_pending_connections(db::Tx& tx, Timestamp until, int limit) {
    // Few connections stand so: the index of the status finds them.
    static constexpr SystemSql kPurge{
        "purge.pending_connections", Why{"retention is the installation's, not a tenant's"},
        "DELETE FROM connections WHERE status IN ('pending', 'error') "
        "AND tokens IS NULL AND updated_at <= ? AND NOT EXISTS (SELECT 1 FROM "
        "connection_authorizations a WHERE a.organization_id = connections.organization_id "
        "AND a.connection_id = connections.id) LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::vector<OrgId> find_old_events(db::Tx& tx, Timestamp until, int limit) {
    // Ids ascend with the time at which events are received: each organization's first one tells.
    // Ordered by the whole primary key, or MySQL reads and sorts all of the organization's.
    static constexpr SystemSql kFind{
        "purge.find_old_events", Why{"retention is the installation's; each row names its tenant"},
        "SELECT o.id FROM organizations o WHERE (SELECT e.received_at FROM engagement_events e "
        "FORCE INDEX (PRIMARY) WHERE e.organization_id = o.id "
        "ORDER BY e.organization_id, e.id LIMIT 1) <= ? "
        "LIMIT ?"};
    return tx.all<OrgId>(kFind, until, limit);
}

std::int64_t purge_engagement_events(db::OrgStore& org, Timestamp until, int limit) {
    // An event's id is drawn in the transaction that it is received in. Ordered by the whole
    // primary key, which is then read as far as the limit and not sorted first.
    static constexpr OrgSql kPurge{
        "purge.engagement_events",
        "DELETE FROM engagement_events WHERE organization_id = :org AND id < ? "
        "AND received_at <= ? ORDER BY organization_id, id LIMIT ?"};
    constexpr Milliseconds kLongestTransaction{60'000};
    return org.execute(kPurge, id_after(until, kLongestTransaction), until, limit);
}

}  // namespace muster::store
