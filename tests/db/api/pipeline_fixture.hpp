// A pipeline (api/pipeline.hpp) with one worker's state, and requests for it.
#pragma once

#include "api/pipeline.hpp"

#include "db/fixture.hpp"
#include "process/concurrency_limit.hpp"
#include "process/metrics.hpp"
#include "process/rate_limiter.hpp"
#include "service/access/api_keys.hpp"

#include <string>

namespace muster::test {

struct PipelineFixture : Fixture {
    PipelineFixture() {
        settings.server.stale_after = 30;
        settings.limits.key_rate = settings.limits.key_burst = 1000;
        settings.limits.organization_rate = settings.limits.organization_burst = 1000;
    }

    service::IssuedKey issue(OrgId organization) {
        return service::issue_api_key(context, organization, {"key", {}, {}, {}});
    }
    // A request without a body.
    static http::Request request(http::Method method, const std::string& path,
                                 const service::IssuedKey& key) {
        http::Request made;
        made.method = method;
        made.path = path;
        made.authorization = "Bearer " + key.secret.reveal();
        made.request_id = "r1";
        made.arrived = Timestamp::now();
        made.read_body = [](std::size_t) { return std::optional<std::string>(""); };
        return made;
    }

    Settings settings = test::settings();
    service::Context worker{database, settings, KeyRing(Secret(std::string(32, 'k')))};
    process::Metrics metrics{{}};
    process::RateLimiter limiter{64};
    process::ConcurrencyLimit concurrency;
    static constexpr std::size_t kMostOfBatch = 32;
    api::Pipeline pipeline{worker, metrics, limiter, concurrency, {.most_of_batch = kMostOfBatch}};
    OrgId acme = organization("Acme");
};

}  // namespace muster::test
