// What is kept for a time only, and goes (specification 3.1, 8): import jobs with rows, mapping and
// report 30 days after their creation; recorded replies, sign-in codes, guess budgets, sessions and
// mail when they expire; API keys, module credentials and publishable keys 30 days after they were
// revoked; webhooks' events with their deliveries after 30 days; the audit log's entries after
// jobs.audit_days; engagement events after jobs.engagement_days, if that is not 0; what keeps ad
// tokens from counting twice once they have expired, and what members were shown of ads on days
// that are over; the ways of admins to providers of external data an hour after they expired, and
// connections that nobody ever consented to after seven days.
#pragma once

#include "service/context.hpp"

#include <cstdint>

namespace muster::service {

struct Purged {
    std::int64_t imports = 0;
    std::int64_t blocks = 0;
    std::int64_t idempotency_keys = 0;
    std::int64_t otp_codes = 0;
    std::int64_t guess_budgets = 0;
    std::int64_t sessions = 0;
    std::int64_t mails = 0;
    std::int64_t api_keys = 0;
    std::int64_t module_credentials = 0;
    std::int64_t publishable_keys = 0;
    std::int64_t previous_secrets = 0;
    std::int64_t audit_entries = 0;
    std::int64_t webhook_events = 0;
    std::int64_t engagement_events = 0;
    std::int64_t ad_redemptions = 0;
    std::int64_t ad_member_days = 0;
    std::int64_t connection_authorizations = 0;
    std::int64_t pending_connections = 0;
    bool any() const {
        return imports + blocks + idempotency_keys + otp_codes + guess_budgets + sessions + mails +
                   api_keys + module_credentials + publishable_keys + previous_secrets +
                   audit_entries + webhook_events + engagement_events + ad_redemptions +
                   ad_member_days + connection_authorizations + pending_connections >
               0;
    }
};

// One bounded step of short transactions; call again while it reports any().
Purged purge_step(Context& context);

}  // namespace muster::service
