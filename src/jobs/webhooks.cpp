#include "jobs/webhooks.hpp"

namespace muster::jobs {

bool WebhookWork::turn(const Deadline& deadline) {
    while (!deadline.over()) dispatch_.step();
    dispatch_.finish();
    return true;
}

}  // namespace muster::jobs
