// The state that all requests of one worker share.
#pragma once

#include "base/settings.hpp"
#include "process/concurrency_limit.hpp"
#include "process/metrics.hpp"
#include "process/rate_limiter.hpp"
#include "rules/cursor.hpp"
#include "service/ads/serving_cache.hpp"
#include "service/context.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace muster::api {

struct WorkerState {
    WorkerState(service::Context& its_context, process::Metrics& its_metrics,
                process::RateLimiter& its_limiter, process::ConcurrencyLimit& its_concurrency)
        : context(its_context),
          metrics(its_metrics),
          limiter(its_limiter),
          concurrency(its_concurrency),
          cursors(cursor_key(context.keys)),
          ads(context.keys) {}

    // A permit to wait for the provider `target`. A quarter of the workers may wait, and one target
    // leaves one of them to others. nullopt: too many wait.
    std::optional<process::ConcurrencyLimit::Permit> try_wait_for(std::string_view target) {
        return concurrency.try_acquire(most_waiting(), target);
    }
    // A permit to build and send a long answer to an organization: one at a time, and together with
    // those who wait a quarter of the workers. nullopt: too many.
    std::optional<process::ConcurrencyLimit::Permit> try_send_to(const OrgId& organization) {
        constexpr std::chrono::seconds kSendLife{120};
        return concurrency.try_acquire(
            {.most = most_waiting(), .most_of_target = 1, .life = kSendLife},
            "long answer " + organization.text());
    }

    service::Context& context;
    // Shared by all workers.
    process::Metrics& metrics;
    process::RateLimiter& limiter;
    process::ConcurrencyLimit& concurrency;
    // Owned by this worker.
    rules::CursorSealer cursors;
    service::AdServingCache ads;

  private:
    static Secret cursor_key(const KeyRing& keys) {
        return Secret(keys.derive("cursor tags").reveal() + keys.derive("cursor texts").reveal());
    }
    std::size_t most_waiting() const {
        return static_cast<std::size_t>(std::max(1, context.settings.server.workers / 4));
    }
};

}  // namespace muster::api
