#include "service/operations/purge.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/ads/token.hpp"
#include "service/access/credentials.hpp"
#include "store/idempotency.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/operations/purge.hpp"

namespace muster::service {
namespace {

constexpr int kImportsAtOnce = 20;
constexpr int kOrganizationsAtOnce = 20;
constexpr int kBlocksAtOnce = 100;
constexpr int kRowsAtOnce = 1000;
// An event goes with the deliveries to all endpoints, and their attempts.
constexpr int kEventsAtOnce = 200;
constexpr Milliseconds kEventLife = std::chrono::days(30);
constexpr Milliseconds kClockMargin{3600L * 1000};
// Of a connection that nobody ever consented to.
constexpr Milliseconds kPendingLife = std::chrono::days(7);

// A job without its blocks is nothing, so the blocks go first and the job last: killed in between,
// the next run goes on.
void purge_import(Context& context, const store::ClaimedImport& job, Purged& purged) {
    const auto deleted = context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, job.organization);
        return store::delete_some_blocks(org, job.id, kBlocksAtOnce);
    });
    purged.blocks += deleted;
    if (deleted == kBlocksAtOnce) return;
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, job.organization);
        store::delete_import(org, job.id);
    });
    ++purged.imports;
}

// An organization's at a time: the primary key, which their age can be told from, begins with it.
std::int64_t purge_engagement_events(Context& context, Timestamp now) {
    const int days = context.settings.jobs.engagement_days;
    if (days == 0) return 0;
    const Timestamp until = now - std::chrono::days(days);
    const auto organizations = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_old_events(tx, until, kOrganizationsAtOnce); });
    std::int64_t purged = 0;
    for (const OrgId& organization : organizations) {
        purged += context.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return store::purge_engagement_events(org, until, kRowsAtOnce);
        });
    }
    return purged;
}

}  // namespace

Purged purge_step(Context& context) {
    const Timestamp now = Timestamp::now();
    Purged purged;
    const auto expired = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_expired_imports(tx, now, kImportsAtOnce); });
    for (const auto& job : expired) purge_import(context, job, purged);
    // Each a transaction of its own, so that none holds its locks for the others.
    const auto expired_rows = [&](std::int64_t (*purge)(db::Tx&, Timestamp, int), Timestamp until) {
        return context.database.transaction(
            [&](db::Tx& tx) { return purge(tx, until, kRowsAtOnce); });
    };
    purged.idempotency_keys = expired_rows(store::purge_idempotency_keys, now);
    purged.otp_codes = expired_rows(store::purge_otp_codes, now);
    purged.guess_budgets = expired_rows(store::purge_guess_budgets, now);
    purged.sessions = expired_rows(store::purge_sessions, now);
    purged.mails = expired_rows(store::purge_mails, now);
    purged.api_keys = expired_rows(store::purge_revoked_api_keys, now - kRevokedKeyLife);
    purged.module_credentials =
        expired_rows(store::purge_revoked_module_credentials, now - kRevokedKeyLife);
    purged.publishable_keys =
        expired_rows(store::purge_revoked_publishable_keys, now - kRevokedKeyLife);
    purged.previous_secrets = expired_rows(store::purge_previous_secrets, now);
    purged.audit_entries = expired_rows(store::purge_audit_log,
                                        now - std::chrono::days(context.settings.jobs.audit_days));
    // Clocks of several machines need not agree.
    purged.ad_redemptions =
        expired_rows(store::purge_ad_redemptions, now - rules::kAdTokenLife - kClockMargin);
    purged.ad_member_days = expired_rows(store::purge_ad_member_days, now - kClockMargin);
    // Who comes back late is told so for a while.
    purged.connection_authorizations =
        expired_rows(store::purge_connection_authorizations, now - kClockMargin);
    purged.pending_connections = expired_rows(store::purge_pending_connections, now - kPendingLife);
    purged.webhook_events = context.database.transaction([&](db::Tx& tx) {
        return store::purge_webhook_events(tx, now - kEventLife, kEventsAtOnce);
    });
    purged.engagement_events = purge_engagement_events(context, now);
    return purged;
}

}  // namespace muster::service
