// The kinds of work, as the runner takes them: each a function that makes the Work. What a turn
// does is in service/; an import's turn is in jobs/imports.hpp.
#pragma once

#include "jobs/runner.hpp"
#include "service/connections/refresher.hpp"
#include "service/context.hpp"

#include <memory>
#include <vector>

namespace muster::jobs {

// Dry runs and commits. `helpers`: as ImportWork takes them.
Work import_work(service::Context& context, std::vector<service::Context*> helpers);

// Deliveries. A turn lasts until the deadline: it has a pace of its own, and an end to bring to
// order.
Work webhook_work(service::Context& context);

Work mail_work(service::Context& context);

// Refreshes of connections to providers of external data. Several of these work side by side, so
// that a slow provider holds up a part of them only. `limits`: of all of them together.
Work connection_work(service::Context& context, std::shared_ptr<service::ProviderLimits> limits);

// The daily purge. `repeats`: looks again every few minutes instead of ending (muster-run all).
Work purge_work(service::Context& context, bool repeats);

}  // namespace muster::jobs
