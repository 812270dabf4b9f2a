// The state that all requests of one worker share.
#pragma once

#include "process/concurrency_limit.hpp"
#include "process/metrics.hpp"
#include "process/rate_limiter.hpp"
#include "rules/cursor.hpp"
#include "service/ads/serving_cache.hpp"
#include "service/context.hpp"

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
