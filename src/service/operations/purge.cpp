#include "service/operations/purge.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/ads/token.hpp"
#include "service/access/credentials.hpp"
#include "service/access/team.hpp"
#include "store/idempotency.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/operations/purge.hpp"
#include "store/quotas.hpp"
#include "store/webhooks/endpoints.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

namespace muster::service {
namespace {

using std::chrono::days;

constexpr int kImportsAtOnce = 20;
constexpr int kOrganizationsAtOnce = 20;
constexpr int kEndpointsAtOnce = 20;
constexpr int kBlocksAtOnce = 100;
constexpr int kRowsAtOnce = 1000;
// An event is deleted with its deliveries to all endpoints and their attempts.
constexpr int kEventsAtOnce = 200;
constexpr Milliseconds kExpired{0};
// Tolerates clock differences between machines, and lets an admin who returns late see the reason
// for a while.
constexpr Milliseconds kMargin = std::chrono::hours(1);

// A Statement runs in its own transaction, so that it does not hold the locks of the others. A
// Function opens its own transactions.
using Statement = std::int64_t (*)(db::Tx& tx, Timestamp until, int limit);
using Function = std::int64_t (*)(Context& context, Timestamp until, int limit);

struct Purge {
    std::string_view name;  // as in the log
    std::variant<Statement, Function> deletes;
    std::optional<Milliseconds> age;  // nullopt: never deleted
    int limit = kRowsAtOnce;
};

template <class Delete>
std::int64_t delete_of(Context& context, const OrgId& organization, const Delete& delete_rows) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return delete_rows(org);
    });
}

template <class Delete>
std::int64_t delete_of_expired_imports(Context& context, Timestamp until, int jobs,
                                       const Delete& delete_rows) {
    const auto expired = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_expired_imports(tx, until, jobs); });
    std::int64_t deleted = 0;
    for (const auto& job : expired) {
        deleted += delete_of(context, job.organization,
                             [&](db::OrgStore& org) { return delete_rows(org, job.id); });
    }
    return deleted;
}

// `limit` is per job.
std::int64_t purge_blocks(Context& context, Timestamp until, int limit) {
    return delete_of_expired_imports(context, until, kImportsAtOnce,
                                     [&](db::OrgStore& org, ImportId job) {
                                         return store::delete_some_blocks(org, job, limit);
                                     });
}

// A job is deleted after its blocks, so a killed run leaves it to the next one.
std::int64_t purge_imports(Context& context, Timestamp until, int limit) {
    return delete_of_expired_imports(context, until, limit, [](db::OrgStore& org, ImportId job) {
        return store::delete_import(org, job) ? 1 : 0;
    });
}

// `limit` is per endpoint.
std::int64_t purge_removed_endpoints(Context& context, Timestamp until, int limit) {
    const auto removed = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_removed_endpoints(tx, until, kEndpointsAtOnce); });
    std::int64_t deleted = 0;
    for (const auto& endpoint : removed) {
        deleted += delete_of(context, endpoint.organization, [&](db::OrgStore& org) {
            return store::delete_removed_endpoint(org, endpoint.id, limit);
        });
    }
    return deleted;
}

// Per organization, because the primary key begins with it. `limit` is per organization.
std::int64_t purge_engagement_events(Context& context, Timestamp until, int limit) {
    const auto organizations = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_old_events(tx, until, kOrganizationsAtOnce); });
    std::int64_t deleted = 0;
    for (const OrgId& organization : organizations) {
        deleted += delete_of(context, organization, [&](db::OrgStore& org) {
            return store::purge_engagement_events(org, until, limit);
        });
    }
    return deleted;
}

std::optional<Milliseconds> days_unless_zero(int count) {
    if (count == 0) return std::nullopt;
    return days(count);
}

// In the order of execution and of the log.
std::vector<Purge> purges(const JobsSettings& jobs) {
    return {
        {"blocks", purge_blocks, kExpired, kBlocksAtOnce},
        {"imports", purge_imports, kExpired, kImportsAtOnce},
        {"member_jobs", store::purge_member_jobs, kExpired},
        {"idempotency_keys", store::purge_idempotency_keys, kExpired},
        {"otp_codes", store::purge_otp_codes, kExpired},
        {"guess_budgets", store::purge_guess_budgets, kExpired},
        {"sessions", store::purge_sessions, kExpired},
        {"invitations", store::purge_invitations, kExpiredInvitationLife},
        {"mails", store::purge_mails, kExpired},
        {"api_keys", store::purge_ended_api_keys, kRevokedKeyLife},
        {"module_credentials", store::purge_revoked_module_credentials, kRevokedKeyLife},
        {"publishable_keys", store::purge_revoked_publishable_keys, kRevokedKeyLife},
        {"previous_secrets", store::purge_previous_secrets, kExpired},
        {"audit_entries", store::purge_audit_log, days(jobs.audit_days)},
        {"removed_endpoints", purge_removed_endpoints, kExpired, kEventsAtOnce},
        {"webhook_events", store::purge_webhook_events, kWebhookEventLife, kEventsAtOnce},
        {"engagement_events", purge_engagement_events, days_unless_zero(jobs.engagement_days)},
        {"ad_redemptions", store::purge_ad_redemptions, rules::kAdTokenLife + kMargin},
        {"ad_member_days", store::purge_ad_member_days, kMargin},
        {"quota_uses", store::purge_quota_uses, days(1)},
        {"connection_authorizations", store::purge_connection_authorizations, kMargin},
        {"pending_connections", store::purge_pending_connections, days(7)},
    };
}

std::int64_t run(Context& context, const Purge& purge, Timestamp until) {
    if (const auto* function = std::get_if<Function>(&purge.deletes)) {
        return (*function)(context, until, purge.limit);
    }
    return context.database.transaction(
        [&](db::Tx& tx) { return std::get<Statement>(purge.deletes)(tx, until, purge.limit); });
}

}  // namespace

bool Purged::any() const {
    return std::any_of(counts.begin(), counts.end(),
                       [](const PurgeCount& count) { return count.rows > 0; });
}

std::int64_t Purged::operator[](std::string_view name) const {
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const PurgeCount& count) { return count.name == name; });
    if (found == counts.end()) throw std::out_of_range("no purge of " + std::string(name));
    return found->rows;
}

Purged purge_step(Context& context) {
    const Timestamp now = Timestamp::now();
    Purged purged;
    std::exception_ptr failure;
    for (const Purge& purge : purges(context.settings.jobs)) {
        std::int64_t rows = 0;
        try {
            if (purge.age) rows = run(context, purge, now - *purge.age);
        } catch (const db::DbError& error) {
            if (error.kind() == db::DbError::Kind::Gone) throw;
            if (!failure) failure = std::current_exception();  // the others do not depend on it
        }
        purged.counts.push_back({purge.name, rows});
    }
    if (failure) std::rethrow_exception(failure);
    return purged;
}

}  // namespace muster::service
