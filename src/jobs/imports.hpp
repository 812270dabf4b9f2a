// The work on import jobs: dry runs and commits, a turn at a time, so that a small job never waits
// for a large one. The steps are service/imports/dry_run.hpp and commit.hpp; here is who gets how
// much time, on how many connections, and what happens when a step fails.
#pragma once

#include "jobs/runner.hpp"
#include "service/context.hpp"
#include "service/imports/commit.hpp"
#include "service/imports/dry_run.hpp"

#include <future>
#include <list>
#include <vector>

namespace muster::jobs {

class ImportWork {
  public:
    // `context`: the turn's own connection; `helpers`: at least one, each with a connection of its
    // own, for the threads of a turn.
    ImportWork(service::Context& context, std::vector<service::Context*> helpers);

    // A Work's turn.
    bool turn(const Deadline& deadline);

  private:
    struct RememberedRun {
        ImportId job;
        service::DryRun run;
    };

    void work_on(const service::Lease& lease, const rules::ImportJob& job,
                 const Deadline& deadline);
    void check(const service::Lease& lease, const rules::ImportJob& job, const Deadline& deadline);
    void commit(const service::Lease& lease, const Deadline& deadline);
    void give_up_or_pause(const service::Lease& lease, const rules::ImportJob& job,
                          std::string_view reason);
    service::DryRun take_run(const service::Lease& lease, const rules::ImportJob& job);
    void keep_run(ImportId job, service::DryRun run);

    using Previews = std::vector<std::shared_future<rules::ImportPreview>>;
    Previews start_previews(const service::Lease& lease, const service::ValidatedBatch& batch);

    service::Context& context_;
    std::vector<service::Context*> helpers_;
    Uuid owner_;
    std::list<RememberedRun> runs_;  // dry runs that were interrupted by another job's turn
};

}  // namespace muster::jobs
