// Runs import jobs: dry runs, commits and undos in turns, so that a small job does not wait for a
// large one. The steps are in service/imports: dry_run.hpp, commit.hpp and undo.hpp. This file
// assigns time and connections and handles failed steps.
#pragma once

#include "jobs/runner.hpp"
#include "service/context.hpp"
#include "service/imports/commit.hpp"
#include "service/imports/dry_run.hpp"

#include <future>
#include <list>
#include <vector>

namespace muster::jobs {

struct UnitWork;

class ImportWork {
  public:
    // `context` is the turn's connection; `helpers` holds at least one, each with its own
    // connection, for the threads of a turn.
    ImportWork(service::Context& context, std::vector<service::Context*> helpers);

    // One turn (jobs/runner.hpp): deletes a piece of discarded blocks, and works on the job that is
    // due. Returns false if there was nothing to do.
    bool turn(const Deadline& deadline);

  private:
    struct InterruptedRun {
        ImportId job;
        std::optional<Timestamp> phase;  // when the dry run began
        service::DryRun run;
    };

    void process(const service::Lease& lease, const rules::ImportJob& job,
                 const Deadline& deadline);
    void dry_run(const service::Lease& lease, const rules::ImportJob& job,
                 const Deadline& deadline);
    void run_units(const service::Lease& lease, const UnitWork& kind, const Deadline& deadline);
    void fail_or_pause(const service::Lease& lease, const rules::ImportJob& job,
                       std::string_view reason);
    service::DryRun take_run(const service::Lease& lease, const rules::ImportJob& job);
    void keep_run(const rules::ImportJob& job, service::DryRun run);

    using Previews = std::vector<std::shared_future<rules::ImportPreview>>;
    Previews start_previews(const service::Lease& lease, const service::ValidatedBatch& batch);

    service::Context& context_;
    std::vector<service::Context*> helpers_;
    Uuid owner_;
    std::list<InterruptedRun> runs_;  // dry runs interrupted by the turns of other jobs
};

}  // namespace muster::jobs
