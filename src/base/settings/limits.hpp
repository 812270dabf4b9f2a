// [limits] of muster.conf: request rates, and what an organization may use in a day.
#pragma once

namespace muster {

struct LimitsSettings {
    // Requests a second, and their burst: of one organization key, module credential or admin.
    int key_rate = 0;
    int key_burst = 0;
    // Of an organization.
    int organization_rate = 0;
    int organization_burst = 0;
    // Of one tracking key or content key.
    int tracking_rate = 0;
    int tracking_burst = 0;
    int otp_requests = 0;  // sign-in codes a minute per client address
    int upload_mib = 0;    // MiB of import rows a second per organization
    // MiB or entries in a day (UTC) per organization.
    int staged_mib = 0;
    int reply_mib = 0;
    int audit_entries = 0;
    int tracked_mib = 0;
    int ingested_mib = 0;
    int member_mib = 0;
};

}  // namespace muster
