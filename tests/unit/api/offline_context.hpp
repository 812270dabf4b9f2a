// A context whose database is unreachable: for the parts of api/ that use no database, and for
// replies during an outage.
#pragma once

#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "process/concurrency_limit.hpp"
#include "process/metrics.hpp"
#include "process/rate_limiter.hpp"
#include "service/context.hpp"

#include <string>

namespace muster::test {

struct OfflineContext {
    OfflineContext() {
        settings.server.stale_after = 30;
        settings.server.base_url = "https://api.example.test";
    }
    OfflineContext(const OfflineContext&) = delete;
    OfflineContext& operator=(const OfflineContext&) = delete;

    static db::ConnectionSettings nowhere() {
        db::ConnectionSettings connection;
        connection.urls = {"unix:/nowhere/mysql.sock"};
        return connection;
    }

    Settings settings;
    db::Database database{nowhere()};
    service::Context context{database, settings, KeyRing(Secret(std::string(32, 'k')))};
    process::Metrics metrics{{}};
    process::RateLimiter limiter{64};
    process::ConcurrencyLimit concurrency;
    api::WorkerState worker{context, metrics, limiter, concurrency};
};

}  // namespace muster::test
