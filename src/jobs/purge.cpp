#include "jobs/purge.hpp"

#include "base/log.hpp"
#include "service/operations/purge.hpp"

namespace muster::jobs {
namespace {

constexpr Milliseconds kInterval{10 * 60 * 1000};

}  // namespace

bool PurgeWork::turn(const Deadline&) {
    if (Timestamp::now() < next_look_) return false;
    const auto purged = service::purge_step(context_);
    if (!purged.any()) {
        next_look_ = Timestamp::now() + kInterval;
        return false;
    }
    log_event(LogLevel::Info, "purge.deleted",
              {{"imports", purged.imports},
               {"blocks", purged.blocks},
               {"idempotency_keys", purged.idempotency_keys},
               {"otp_codes", purged.otp_codes},
               {"guess_budgets", purged.guess_budgets},
               {"sessions", purged.sessions},
               {"mails", purged.mails},
               {"api_keys", purged.api_keys},
               {"module_credentials", purged.module_credentials},
               {"publishable_keys", purged.publishable_keys},
               {"previous_secrets", purged.previous_secrets},
               {"audit_entries", purged.audit_entries},
               {"webhook_events", purged.webhook_events},
               {"engagement_events", purged.engagement_events},
               {"ad_redemptions", purged.ad_redemptions},
               {"ad_member_days", purged.ad_member_days},
               {"connection_authorizations", purged.connection_authorizations},
               {"pending_connections", purged.pending_connections}});
    return true;
}

}  // namespace muster::jobs
