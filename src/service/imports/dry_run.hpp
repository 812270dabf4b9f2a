// The dry run of an import job: validates its blocks in order and records their outcomes.
#pragma once

#include "rules/imports/block_key.hpp"
#include "rules/imports/jobs.hpp"
#include "service/imports/lease.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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

// A batch of blocks that is validated, but not recorded yet.
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
    // Writes the outcomes, the counters and the cursor. Batches are recorded in the order of their
    // validation.
    void record(Context& context, const Lease& lease, const rules::ImportPreview& preview) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Reads and validates the next blocks; nullopt behind the last one. An exception leaves `run`
// unusable: resume.
std::optional<ValidatedBatch> validate_next(Context& context, const Lease& lease, DryRun& run);
// To validated, when every batch is recorded.
void finish_dry_run(Context& context, const Lease& lease);

}  // namespace muster::service
