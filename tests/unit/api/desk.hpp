// A context whose database is away: for everything of api/ that needs none, and for what happens
// then.
#pragma once

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "process/concurrency_limit.hpp"
#include "process/metrics.hpp"
#include "process/rate_limiter.hpp"
#include "service/context.hpp"

#include <string>

namespace muster::test {

struct AwayDesk {
    AwayDesk() {
        settings.server_stale_after = 30;
        settings.server_base_url = "https://api.example.test";
    }
    AwayDesk(const AwayDesk&) = delete;
    AwayDesk& operator=(const AwayDesk&) = delete;

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
    process::ConcurrencyLimit slots;
};

}  // namespace muster::test
