// The kinds of work for the runner: each function creates a Work. The turns are implemented in
// service/; an import's turn is in jobs/imports.hpp.
#pragma once

#include "jobs/runner.hpp"
#include "service/connections/refresher.hpp"
#include "service/context.hpp"

#include <memory>
#include <vector>

namespace muster::jobs {

// Dry runs and commits. ImportWork documents `helpers`.
Work import_work(service::Context& context, std::vector<service::Context*> helpers);

// Webhook deliveries. A turn lasts until the deadline, because it has its own loop and ends in
// order.
Work member_job_work(service::Context& context);
Work webhook_work(service::Context& context);

Work mail_work(service::Context& context);

// Refreshes of connections to providers of external data. Several run in parallel, so that a slow
// provider delays only a part of them. They share `limits`.
Work connection_work(service::Context& context, std::shared_ptr<service::ProviderLimits> limits);

// The hourly purge. With `repeats`, it looks again every ten minutes instead of ending (muster-run
// all).
Work purge_work(service::Context& context, bool repeats);

// Deletes organizations, as a part of the purge. With `repeats`, it looks again every ten seconds.
Work deletion_work(service::Context& context, bool repeats);

}  // namespace muster::jobs
