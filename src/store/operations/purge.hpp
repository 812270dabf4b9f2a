// Deletes expired rows: one bounded statement per table (engagement events: per organization), for
// service/operations/purge.hpp. Each function returns the number of deleted rows, at most `limit`.
#pragma once

#include "db/transaction.hpp"

#include <cstdint>
#include <vector>

namespace muster::store {

// Deletes rows with expires_at <= `now`.
std::int64_t purge_otp_codes(db::Tx& tx, Timestamp now, int limit);
std::int64_t purge_guess_budgets(db::Tx& tx, Timestamp now, int limit);
std::int64_t purge_sessions(db::Tx& tx, Timestamp now, int limit);
// Deletes expired mails, except those with a live lease.
std::int64_t purge_mails(db::Tx& tx, Timestamp now, int limit);

// Deletes webhook events created at `until` or earlier, with their deliveries and attempts.
std::int64_t purge_webhook_events(db::Tx& tx, Timestamp until, int limit);

// Deletes tokens redeemed at `until` or earlier, and views of members before the day of `now`.
std::int64_t purge_ad_redemptions(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_ad_member_days(db::Tx& tx, Timestamp now, int limit);

// Deletes previous secrets of endpoints that are not used any more.
std::int64_t purge_previous_secrets(db::Tx& tx, Timestamp now, int limit);

// Deletes keys and credentials revoked at `until` or earlier; API keys also if they expired then.
std::int64_t purge_ended_api_keys(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_revoked_module_credentials(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_revoked_publishable_keys(db::Tx& tx, Timestamp until, int limit);
// Deletes entries created at `until` or earlier.
std::int64_t purge_audit_log(db::Tx& tx, Timestamp until, int limit);

// Deletes invitations with expires_at <= `until`.
std::int64_t purge_invitations(db::Tx& tx, Timestamp until, int limit);

// Deletes jobs with expires_at <= `until`: 30 days after their creation.
std::int64_t purge_member_jobs(db::Tx& tx, Timestamp until, int limit);
// Deletes authorizations with expires_at <= `until`.
std::int64_t purge_connection_authorizations(db::Tx& tx, Timestamp until, int limit);
// Deletes connections without tokens that have not changed since `until` and have no pending
// authorization.
std::int64_t purge_pending_connections(db::Tx& tx, Timestamp until, int limit);

// At most `limit` organizations whose first engagement event was received at `until` or earlier.
std::vector<OrgId> find_old_events(db::Tx& tx, Timestamp until, int limit);
// Deletes this organization's events received at `until` or earlier.
std::int64_t purge_engagement_events(db::OrgStore& org, Timestamp until, int limit);

}  // namespace muster::store
