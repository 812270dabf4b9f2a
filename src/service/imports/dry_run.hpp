// The dry run of an import job: validates its blocks in order and records their outcomes.
#pragma once

#include "rules/imports/block_key.hpp"
#include "rules/imports/jobs.hpp"
#include "service/imports/lease.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace muster::rules {
class AttributeRegistry;
}

namespace muster::store {
struct Block;
}

namespace muster::service {

// The addresses claimed by earlier rows, as 128-bit digests (16 bytes each; collisions are
// negligible). The digests have random keys. Otherwise the sender of a file could choose addresses
// that all fall into one bucket of the hash table.
class ClaimedEmails {
  public:
    ClaimedEmails();
    // Returns false if an earlier row claimed the address.
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
    std::string keys_;  // one for each half of a digest
    std::unordered_set<Digest, Hash> digests_;
};

// A dry run in progress. The rows before `next_block` have claimed their addresses.
struct DryRun {
    ClaimedEmails claimed;
    rules::BlockKey next_block;
};

// Continues a dry run in another runner: claims the addresses of all rows before `job.next_block`
// again.
DryRun resume_dry_run(Context& context, const rules::ImportJob& job);

// A batch of validated blocks whose outcomes are not recorded yet.
class ValidatedBatch {
  public:
    ValidatedBatch(std::vector<store::Block> blocks, const rules::AttributeRegistry& registry,
                   ClaimedEmails& claimed);
    ~ValidatedBatch();
    ValidatedBatch(ValidatedBatch&&) noexcept;
    ValidatedBatch& operator=(ValidatedBatch&&) noexcept;

    // Counts what a commit would do now with part `part` (from 0) of `parts` of the valid rows.
    rules::ImportPreview preview(Context& context, const Lease& lease, std::size_t part,
                                 std::size_t parts) const;
    // Writes the outcomes, the counters and the cursor. Record batches in the order of their
    // validation. Throws LeaseLost.
    void record(Context& context, const Lease& lease, const rules::ImportPreview& preview) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Reads and validates the next blocks; nullopt after the last one. After an exception, discard
// `run` and call resume_dry_run().
std::optional<ValidatedBatch> validate_next(Context& context, const Lease& lease, DryRun& run);
// Moves the job to validated. Call it after the last batch is recorded.
void finish_dry_run(Context& context, const Lease& lease);

}  // namespace muster::service
