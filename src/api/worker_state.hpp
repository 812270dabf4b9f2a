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
          cursors(context.keys.derive("cursors").reveal()),
          ads(context.keys) {}

    // A permit to wait for `target`: a provider, or the client of an export. A quarter of the
    // workers may wait, and one target leaves one of them to others. nullopt: too many wait.
    std::optional<process::ConcurrencyLimit::Permit> try_wait_for(std::string_view target) {
        const int most = std::max(1, context.settings.server.workers / 4);
        return concurrency.try_acquire(static_cast<std::size_t>(most), target);
    }

    service::Context& context;
    // Shared by all workers.
    process::Metrics& metrics;
    process::RateLimiter& limiter;
    process::ConcurrencyLimit& concurrency;
    // Owned by this worker.
    rules::CursorSealer cursors;
    service::AdServingCache ads;
};

}  // namespace muster::api
