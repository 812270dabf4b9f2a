// The kinds of work for the runner: each function creates a Work. The turns are implemented in
// service/; those on jobs are in jobs/imports.hpp and jobs/member_jobs.hpp.
#pragma once

#include "jobs/runner.hpp"
#include "service/connections/refresher.hpp"
#include "service/context.hpp"

#include <memory>
#include <vector>

namespace muster::jobs {

// Dry runs, commits and undos of imports. ImportWork documents `helpers`.
Work import_work(service::Context& context, std::vector<service::Context*> helpers);

// Changes of all members that match a filter.
Work member_job_work(service::Context& context);

// Webhook deliveries. A turn has its own loop and lasts until the deadline. After the last turn the
// requests in flight are answered and recorded, or released for the next runner.
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
