// [jobs] of muster.conf: leases, attempts and retention periods of background work.
#pragma once

namespace muster {

struct JobsSettings {
    int connections = 0;
    int lease = 0;  // seconds
    int attempts = 0;
    int audit_days = 0;
    int engagement_days = 0;
};

}  // namespace muster
