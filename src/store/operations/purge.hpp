// What expires by its time alone, whoever's it is: one bounded statement a table (of engagement
// events, an organization), for service/operations/purge.hpp. Each returns how many rows went, at
// most `limit`. Mail is here too, for those that no runner came by to remove.
#pragma once

#include "db/transaction.hpp"

#include <cstdint>
#include <vector>

namespace muster::store {

// Gone when expires_at is now or earlier.
std::int64_t purge_otp_codes(db::Tx& tx, Timestamp now, int limit);
std::int64_t purge_guess_budgets(db::Tx& tx, Timestamp now, int limit);
std::int64_t purge_sessions(db::Tx& tx, Timestamp now, int limit);
// Not while a runner holds its lease.
std::int64_t purge_mails(db::Tx& tx, Timestamp now, int limit);

// Events for webhooks that were written at `until` or earlier, with all deliveries and attempts.
std::int64_t purge_webhook_events(db::Tx& tx, Timestamp until, int limit);

// What was redeemed at `until` or earlier, and what members were shown before that day.
std::int64_t purge_ad_redemptions(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_ad_member_days(db::Tx& tx, Timestamp now, int limit);

// An endpoint's secret of before, once it signs no more.
std::int64_t purge_previous_secrets(db::Tx& tx, Timestamp now, int limit);

// Gone when it was revoked at `until` or earlier.
std::int64_t purge_revoked_api_keys(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_revoked_module_credentials(db::Tx& tx, Timestamp until, int limit);
std::int64_t purge_revoked_publishable_keys(db::Tx& tx, Timestamp until, int limit);
// Gone when it was written at `until` or earlier.
std::int64_t purge_audit_log(db::Tx& tx, Timestamp until, int limit);

// Of admins on the way to a provider and back; gone when expires_at is `until` or earlier.
std::int64_t purge_connection_authorizations(db::Tx& tx, Timestamp until, int limit);
// Connections that never had tokens, and nothing happened to since `until`, unless an admin is on
// the way.
std::int64_t purge_pending_connections(db::Tx& tx, Timestamp until, int limit);

// Organizations whose first engagement event was received at `until` or earlier, at most `limit`.
std::vector<OrgId> find_old_events(db::Tx& tx, Timestamp until, int limit);
// That organization's.
std::int64_t purge_engagement_events(db::OrgStore& org, Timestamp until, int limit);

}  // namespace muster::store
