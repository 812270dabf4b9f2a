// What the runner does with an import job, in resumable steps: the dry run over its blocks, the
// commit of its blocks. Each step moves the rows' outcomes and the job's counters in one
// transaction, under the runner's lease; killed anywhere, the next runner goes on, and a step that
// lost its lease changes nothing.
#pragma once

#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/jobs.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace muster::store {
struct Block;
}

namespace muster::service {

// A job under this runner's lease.
struct Lease {
    OrgId organization;
    ImportId id;
    Uuid owner;
};

// Thrown by a step whose job was canceled or taken over: stop, all is well.
struct LeaseLost {};

// The due job that waited longest, claimed; nullopt when there is none. Throws DbError Gone when
// the outcome of the COMMIT is unknown. The claim is then not repeated: it may have been applied,
// and a second one would count a second attempt. Such a job is due again at the end of its lease.
std::optional<Lease> claim_due_import(Context& context, const Uuid& owner);
// Whether some other job could be served right now.
[[nodiscard]] bool another_import_waits(Context& context);
// Ends a turn: free at once, or after `pause`. A Count turn counts as an attempt, a Forgive
// one does not.
enum class AttemptPolicy : std::uint8_t { Forgive, Count };
void release_import(Context& context, const Lease& lease, AttemptPolicy turn, Milliseconds pause);
// The job is given up: state failed.
void fail_import(Context& context, const Lease& lease, rules::ImportState from,
                 const rules::ImportFailure& failure);

// ---- dry run

// The addresses that the rows so far have claimed, as 128-bit digests: exactness for 16 bytes an
// address.
class ClaimedEmails {
  public:
    // False when an earlier row has it.
    bool claim(std::string_view email);
    void reserve(std::size_t count) { digests_.reserve(count); }
    std::size_t size() const { return digests_.size(); }

  private:
    struct Digest {
        std::uint64_t high;
        std::uint64_t low;
        bool operator==(const Digest&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Digest& digest) const { return digest.high; }
    };
    std::unordered_set<Digest, Hash> digests_;
};

// A dry run in progress: what lies before `next_block` has been claimed.
struct DryRun {
    ClaimedEmails claimed;
    rules::BlockKey next_block;
};

// Claims the addresses of all rows before `job.next_block` again, for a runner that takes over.
DryRun resume_dry_run(Context& context, const rules::ImportJob& job);

// A batch of blocks that has been judged, but not recorded yet.
class ValidatedBatch {
  public:
    ValidatedBatch(std::vector<store::Block> blocks, const rules::AttributeRegistry& registry,
                   ClaimedEmails& claimed);
    ~ValidatedBatch();
    ValidatedBatch(ValidatedBatch&&) noexcept;
    ValidatedBatch& operator=(ValidatedBatch&&) noexcept;

    // What a commit would do with part `part` of `parts` of the valid rows right now.
    rules::ImportPreview preview(Context& context, const Lease& lease, std::size_t part,
                                 std::size_t parts) const;
    // Writes the outcomes, the counters and the cursor. Batches are recorded in the order of
    // judging.
    void record(Context& context, const Lease& lease, const rules::ImportPreview& preview) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Reads and judges the next blocks; nullopt when there are none left. After an exception `run` is
// worthless: resume.
std::optional<ValidatedBatch> validate_next(Context& context, const Lease& lease, DryRun& run);
// To validated, when every batch is recorded.
void finish_dry_run(Context& context, const Lease& lease);

// ---- commit

// Blocks that are committed in one transaction.
struct CommitUnit {
    std::vector<rules::BlockKey> blocks;
};
// The next units from `from` on (in order), at most `most`.
std::vector<CommitUnit> next_commit_units(Context& context, const Lease& lease,
                                          rules::BlockKey from, int most);
// Writes the members of these blocks. Rows that the database refuses fail alone. Idempotent: blocks
// that are committed already are passed over.
void commit_unit(Context& context, const Lease& lease, const CommitUnit& unit);
// To completed, when no block is left.
void complete_import(Context& context, const Lease& lease);

}  // namespace muster::service
