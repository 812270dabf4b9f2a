#include "jobs/webhooks.hpp"

namespace muster::jobs {
namespace {

// For whoever sent a signal; the receivers who have not answered by then get their event again.
constexpr Milliseconds kAfterSignal{4'000};

}  // namespace

bool WebhookWork::turn(const Deadline& deadline) {
    while (!deadline.over()) dispatch_.step();
    dispatch_.finish([] {
        return Deadline::stopped() ? kAfterSignal : service::WebhookDispatch::kWholeAttempt;
    });
    return true;
}

}  // namespace muster::jobs
