#include "store/operations/purge.hpp"

#include "rules/ads/ads.hpp"
#include "store/id_bounds.hpp"

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

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

std::int64_t purge_invitations(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.seat_invitations",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM seat_invitations WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_sessions(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.sessions",
                                      Why{"a session belongs to an admin, not to a tenant"},
                                      "DELETE FROM sessions WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, now, limit);
}

std::int64_t purge_mails(db::Tx& tx, Timestamp now, int limit) {
    // An attempt is never postponed beyond expires_at, so the index on next_attempt_at finds all
    // expired mails.
    static constexpr SystemSql kPurge{
        "purge.mails", Why{"mail goes to admins, who belong to no tenant"},
        "DELETE FROM mail_outbox WHERE next_attempt_at <= ? AND expires_at <= ? "
        "AND lease_until <= ? LIMIT ?"};
    return tx.execute(kPurge, now, now, now, limit);
}

std::int64_t purge_ended_api_keys(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{
        "purge.api_keys", Why{"retention is per installation, not per tenant"},
        "DELETE FROM api_keys WHERE revoked_at <= ? OR expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, until, limit);
}

std::int64_t purge_webhook_events(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.webhook_events",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM webhook_events WHERE created_at <= ? "
                                      "ORDER BY created_at LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_ad_redemptions(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.ad_redemptions",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM ad_redemptions WHERE redeemed_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_ad_member_days(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{"purge.ad_member_days",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM ad_member_days WHERE day < ? LIMIT ?"};
    return tx.execute(kPurge, rules::ad_day_of(now), limit);
}

std::int64_t purge_revoked_module_credentials(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{
        "purge.module_credentials", Why{"retention is per installation, not per tenant"},
        "DELETE FROM module_credentials WHERE revoked_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_revoked_publishable_keys(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.publishable_keys",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM publishable_keys WHERE revoked_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

// The older secret ends before the previous one.
std::int64_t purge_previous_secrets(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kPurge{
        "purge.previous_secrets", Why{"retention is per installation, not per tenant"},
        "UPDATE webhook_endpoints SET "
        "previous_secret = IF(previous_secret_until <= ?, NULL, previous_secret), "
        "previous_secret_until = IF(previous_secret_until <= ?, NULL, previous_secret_until), "
        "older_secret = NULL, older_secret_until = NULL "
        "WHERE previous_secret_until <= ? OR older_secret_until <= ? LIMIT ?"};
    return tx.execute(kPurge, now, now, now, now, limit);
}

std::int64_t purge_audit_log(db::Tx& tx, Timestamp until, int limit) {
    // Ids ascend with time, so the primary key limits the rows that are read.
    static constexpr SystemSql kPurge{
        "purge.audit_log", Why{"retention is per installation, not per tenant"},
        "DELETE FROM audit_log WHERE id < ? AND created_at <= ? LIMIT ?"};
    return tx.execute(kPurge, id_after(until, std::chrono::days(1)), until, limit);
}

std::int64_t purge_connection_authorizations(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{
        "purge.connection_authorizations", Why{"retention is per installation, not per tenant"},
        "DELETE FROM connection_authorizations WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_member_jobs(db::Tx& tx, Timestamp until, int limit) {
    static constexpr SystemSql kPurge{"purge.member_jobs",
                                      Why{"retention is per installation, not per tenant"},
                                      "DELETE FROM member_jobs WHERE expires_at <= ? LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::int64_t purge_pending_connections(db::Tx& tx, Timestamp until, int limit) {
    // Few connections have this status; its index finds them.
    static constexpr SystemSql kPurge{
        "purge.pending_connections", Why{"retention is per installation, not per tenant"},
        "DELETE FROM connections WHERE status IN ('pending', 'error') "
        "AND tokens IS NULL AND updated_at <= ? AND NOT EXISTS (SELECT 1 FROM "
        "connection_authorizations a WHERE a.organization_id = connections.organization_id "
        "AND a.connection_id = connections.id) LIMIT ?"};
    return tx.execute(kPurge, until, limit);
}

std::vector<OrgId> find_old_events(db::Tx& tx, Timestamp until, int limit) {
    // Ids ascend with the time of reception, so the first event of an organization is its oldest.
    // The full primary key in ORDER BY keeps MySQL from sorting all events of the organization.
    static constexpr SystemSql kFind{
        "purge.find_old_events", Why{"retention is per installation; each row names its tenant"},
        "SELECT o.id FROM organizations o WHERE (SELECT e.received_at FROM engagement_events e "
        "FORCE INDEX (PRIMARY) WHERE e.organization_id = o.id "
        "ORDER BY e.organization_id, e.id LIMIT 1) <= ? "
        "LIMIT ?"};
    return tx.all<OrgId>(kFind, until, limit);
}

std::int64_t purge_engagement_events(db::OrgStore& org, Timestamp until, int limit) {
    // An event's id is created in the transaction that receives it. With the full primary key in
    // ORDER BY, the key is read up to the limit and not sorted.
    static constexpr OrgSql kPurge{
        "purge.engagement_events",
        "DELETE FROM engagement_events WHERE organization_id = :org AND id < ? "
        "AND received_at <= ? ORDER BY organization_id, id LIMIT ?"};
    constexpr Milliseconds kLongestTransaction{60'000};
    return org.execute(kPurge, id_after(until, kLongestTransaction), until, limit);
}

}  // namespace muster::store
