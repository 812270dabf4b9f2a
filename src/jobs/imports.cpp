#include "jobs/imports.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "jobs/retry_pause.hpp"
#include "service/failure.hpp"
#include "service/imports/discard.hpp"
#include "service/imports/jobs.hpp"
#include "service/imports/undo.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace muster::jobs {

using service::Lease;

// A state whose work is a series of units of blocks.
struct UnitWork {
    std::vector<service::CommitUnit> (*next_units)(service::Context&, const Lease&,
                                                   rules::BlockKey from, int most);
    void (*run)(service::Context&, const Lease&, const service::CommitUnit&);
    void (*complete)(service::Context&, const Lease&);
    std::string_view completed_event;
};
namespace {

// How long a job runs if another job waits.
constexpr Milliseconds kSlice{500};
// 250,000 addresses use 8 MiB. A further interrupted dry run reads the addresses of its earlier
// rows again.
constexpr std::size_t kKeptRuns = 3;
constexpr int kUnitsAhead = 20;
constexpr Milliseconds kTransientFailurePause{1000};

// Decides when a turn ends: at the runner's deadline, or after a slice if another job waits.
class Slice {
  public:
    Slice(service::Context& context, const Deadline& deadline)
        : context_(context), deadline_(deadline) {}

    bool over() {
        if (deadline_.over()) return true;
        const Timestamp now = Timestamp::now();
        if (now - last_look_ < kSlice) return false;
        last_look_ = now;
        return service::is_another_import_due(context_);
    }

  private:
    service::Context& context_;
    const Deadline& deadline_;
    Timestamp last_look_ = Timestamp::now();
};

constexpr UnitWork kCommit{service::next_commit_units, service::commit_unit,
                           service::complete_import, "import.completed"};
constexpr UnitWork kUndo{service::next_undo_units, service::undo_unit, service::complete_undo,
                         "import.undone"};

// The units of a commit or undo, distributed to threads. The first failure stops all threads.
class UnitQueue {
  public:
    UnitQueue(const UnitWork& kind, std::vector<service::CommitUnit> units)
        : kind_(kind), units_(std::move(units)) {}

    // nullptr if no unit is left.
    const service::CommitUnit* next() {
        const std::size_t index = taken_.fetch_add(1);
        return stopped_ || index >= units_.size() ? nullptr : &units_[index];
    }
    void stop() { stopped_ = true; }

    void work(service::Context& context, const Lease& lease) {
        try {
            while (const service::CommitUnit* unit = next()) kind_.run(context, lease, *unit);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            stop();
        }
        const std::lock_guard lock(mutex_);
        ++finished_;
        done_.notify_all();
    }

    // Waits for `workers` threads and stops them when the slice is over. Returns true if they were
    // stopped early.
    bool wait(std::size_t workers, Slice& slice) {
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, Milliseconds(100), [&] { return finished_ == workers; })) {
            if (stopped_) continue;
            lock.unlock();
            const bool over = slice.over();
            lock.lock();
            if (over) stop();
        }
        if (failure_) std::rethrow_exception(failure_);
        return stopped_;
    }

  private:
    const UnitWork& kind_;
    std::vector<service::CommitUnit> units_;
    std::atomic<std::size_t> taken_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t finished_ = 0;
    std::exception_ptr failure_;
};

rules::ImportPreview sum(const std::vector<std::shared_future<rules::ImportPreview>>& parts) {
    rules::ImportPreview total;
    for (const auto& part : parts) {
        const rules::ImportPreview& preview = part.get();
        total.new_members += preview.new_members;
        total.existing_members += preview.existing_members;
    }
    return total;
}

}  // namespace

ImportWork::ImportWork(service::Context& context, std::vector<service::Context*> helpers)
    : context_(context), helpers_(std::move(helpers)), owner_(Uuid::v7()) {}

bool ImportWork::turn(const Deadline& deadline) {
    const bool has_deleted = service::delete_discarded_blocks(context_);
    const auto lease = service::claim_due_import(context_, owner_);
    if (!lease) return has_deleted;
    const auto job = service::read_import(context_, lease->organization, lease->id);
    if (!job) return true;
    try {
        if (job->attempts > context_.settings.jobs.attempts) {
            fail_or_pause(*lease, *job, "no attempt was completed");
        } else {
            process(*lease, *job, deadline);
        }
    } catch (const service::LeaseLost&) {
        log_event(LogLevel::Info, "import.lease_lost", {{"job", lease->id.text()}});
        // Changes nothing if another runner has the job.
        service::release_import(context_, *lease, service::AttemptPolicy::Forgive, Milliseconds(0));
    } catch (const std::exception& error) {
        if (service::is_transient_failure(error)) {
            // Not caused by the job: the runner logs it and retries in a second.
            service::release_import(context_, *lease, service::AttemptPolicy::Forgive,
                                    kTransientFailurePause);
            throw;
        }
        fail_or_pause(*lease, *job, error.what());
    }
    return true;
}

void ImportWork::process(const Lease& lease, const rules::ImportJob& job,
                         const Deadline& deadline) {
    if (job.state == rules::ImportState::Validating) {
        dry_run(lease, job, deadline);
    } else {
        run_units(lease, job.state == rules::ImportState::Undoing ? kUndo : kCommit, deadline);
    }
}

void ImportWork::dry_run(const Lease& lease, const rules::ImportJob& job,
                         const Deadline& deadline) {
    Slice slice(context_, deadline);
    service::DryRun run = take_run(lease, job);
    auto batch = service::validate_next(context_, lease, run);
    bool interrupted = false;
    while (batch && !interrupted) {
        // The look-ups of one batch run in parallel with the validation of the next.
        const auto previews = start_previews(lease, *batch);
        interrupted = slice.over();
        auto next = interrupted ? std::nullopt : service::validate_next(context_, lease, run);
        batch->record(context_, lease, sum(previews));
        batch = std::move(next);
    }
    if (interrupted) {
        keep_run(job, std::move(run));
        service::release_import(context_, lease, service::AttemptPolicy::Forgive, Milliseconds(0));
        return;
    }
    service::finish_dry_run(context_, lease);
    log_event(LogLevel::Info, "import.validated", {{"job", lease.id.text()}});
}

ImportWork::Previews ImportWork::start_previews(const Lease& lease,
                                                const service::ValidatedBatch& batch) {
    Previews previews;
    for (std::size_t i = 0; i < helpers_.size(); ++i) {
        previews.push_back(std::async(std::launch::async, [this, i, &lease, &batch] {
            return batch.preview(*helpers_[i], lease, i, helpers_.size());
        }));
    }
    return previews;
}

void ImportWork::run_units(const Lease& lease, const UnitWork& kind, const Deadline& deadline) {
    Slice slice(context_, deadline);
    rules::BlockKey from;
    for (bool interrupted = false; !interrupted;) {
        auto units = kind.next_units(context_, lease, from, kUnitsAhead);
        if (units.empty()) {
            kind.complete(context_, lease);
            log_event(LogLevel::Info, kind.completed_event, {{"job", lease.id.text()}});
            return;
        }
        from = units.back().blocks.back().next();
        UnitQueue queue(kind, std::move(units));
        std::vector<std::jthread> threads;
        for (service::Context* own : helpers_) {
            threads.emplace_back([&queue, own, &lease] { queue.work(*own, lease); });
        }
        interrupted = queue.wait(helpers_.size(), slice);
    }
    service::release_import(context_, lease, service::AttemptPolicy::Forgive, Milliseconds(0));
}

void ImportWork::fail_or_pause(const Lease& lease, const rules::ImportJob& job,
                               std::string_view reason) {
    // Progress resets the stored number, also progress that this attempt made before it failed.
    const auto current = service::read_import(context_, lease.organization, lease.id);
    const int attempts = current ? current->attempts : job.attempts;
    const bool is_last_attempt = attempts >= context_.settings.jobs.attempts;
    log_event(is_last_attempt ? LogLevel::Error : LogLevel::Warning, "import.attempt_failed",
              {{"job", lease.id.text()}, {"attempt", attempts}, {"reason", reason}});
    if (is_last_attempt) {
        service::fail_import(
            context_, lease, job.state,
            {"IMPORT_ATTEMPTS_EXHAUSTED",
             job.state == rules::ImportState::Undoing
                 ? "The undo failed after several attempts without progress. Request it again."
                 : "The job failed after several attempts without progress. Create a new job."});
    } else {
        service::release_import(context_, lease, service::AttemptPolicy::Count,
                                retry_pause(attempts));
    }
}

service::DryRun ImportWork::take_run(const Lease& lease, const rules::ImportJob& job) {
    const auto kept = std::find_if(runs_.begin(), runs_.end(), [&](const InterruptedRun& entry) {
        return entry.job == lease.id;
    });
    if (kept != runs_.end()) {
        service::DryRun run = std::move(kept->run);
        const auto kept_phase = kept->phase;
        runs_.erase(kept);
        // The job may have been reopened, and validated by another runner up to the same block.
        if (run.next_block == job.next_block && kept_phase == job.phase_started_at) return run;
    }
    return service::resume_dry_run(context_, job);
}

void ImportWork::keep_run(const rules::ImportJob& job, service::DryRun run) {
    runs_.push_front({job.id, job.phase_started_at, std::move(run)});
    if (runs_.size() > kKeptRuns) runs_.pop_back();
}

}  // namespace muster::jobs
