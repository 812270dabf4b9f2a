#include "service/imports/dry_run.hpp"

#include "base/crypto.hpp"
#include "base/email.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/row_faults.hpp"
#include "service/attributes.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <span>

namespace muster::service {

using rules::AttributeResult;
using rules::ImportState;
using rules::RowError;
using rules::RowOutcome;
using rules::RowState;
using store::BlockKey;

namespace {

constexpr int kBlocksPerBatch = 10;

std::vector<store::Block> read_batch(Context& context, const Lease& lease, BlockKey from) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        return store::read_blocks(org, lease.id, from, {}, kBlocksPerBatch);
    });
}

// False if an earlier row claimed the address. A malformed row may have no address to claim.
bool claim_address(const rules::StagedRow& row, ClaimedEmails& claimed) {
    if (rules::holds_faults(row.attributes()) && !is_email(row.email())) return true;
    return claimed.claim(row.email());
}

RowOutcome validate(const rules::StagedRow& row, const rules::AttributeRegistry& registry,
                    ClaimedEmails& claimed) {
    // The lowest row number claims the address, whether or not that row is valid.
    const bool is_first = claim_address(row, claimed);
    if (rules::holds_faults(row.attributes())) return rules::outcome_before_validation(row);
    if (!is_first) return {RowState::Invalid, RowError::DuplicateInFile, "", {}};
    const auto result = rules::validate_attributes(registry, row.attributes());
    if (result.result == AttributeResult::Good) return {RowState::Valid, RowError::None, "", {}};
    return {RowState::Invalid, rules::row_error_of(result.result), result.key, {}};
}

}  // namespace

ClaimedEmails::ClaimedEmails() : keys_(2 * kSipHashKeyBytes, '\0') {
    random_bytes(keys_.data(), keys_.size());
}

bool ClaimedEmails::claim(std::string_view email) {
    const std::string_view keys = keys_;
    const Digest digest{siphash(keys.substr(0, kSipHashKeyBytes), email),
                        siphash(keys.substr(kSipHashKeyBytes), email)};
    return digests_.insert(digest).second;
}

DryRun resume_dry_run(Context& context, const rules::ImportJob& job) {
    const Lease lease{job.organization_id, job.id, {}};
    DryRun run;
    run.next_block = job.next_block;
    run.claimed.reserve(static_cast<std::size_t>(job.staged_rows));
    for (BlockKey from; from < job.next_block;) {
        const auto blocks = read_batch(context, lease, from);
        for (const store::Block& block : blocks) {
            if (block.key >= job.next_block) return run;
            for (const auto& row : rules::decode_rows(block.data)) claim_address(row, run.claimed);
        }
        if (blocks.empty()) return run;
        from = blocks.back().key.next();
    }
    return run;
}

struct ValidatedBatch::Impl {
    std::vector<store::Block> blocks;
    std::vector<std::vector<RowOutcome>> outcomes;  // for each block
    std::vector<std::string_view> valid;            // addresses, as views into the blocks' data
    store::ImportProgress progress;
    rules::ErrorCounts errors;
};

ValidatedBatch::ValidatedBatch(std::vector<store::Block> blocks,
                               const rules::AttributeRegistry& registry, ClaimedEmails& claimed)
    : impl_(std::make_unique<Impl>()) {
    impl_->blocks = std::move(blocks);
    for (const store::Block& block : impl_->blocks) {
        auto& outcomes = impl_->outcomes.emplace_back();
        for (const rules::StagedRow& row : rules::decode_rows(block.data)) {
            outcomes.push_back(validate(row, registry, claimed));
            if (outcomes.back().state == RowState::Valid) impl_->valid.push_back(row.email());
        }
        impl_->progress.processed += static_cast<std::int64_t>(outcomes.size());
        impl_->errors.add(outcomes);
    }
    impl_->progress.valid = static_cast<std::int64_t>(impl_->valid.size());
    impl_->progress.invalid = impl_->progress.processed - impl_->progress.valid;
}

ValidatedBatch::~ValidatedBatch() = default;
ValidatedBatch::ValidatedBatch(ValidatedBatch&&) noexcept = default;
ValidatedBatch& ValidatedBatch::operator=(ValidatedBatch&&) noexcept = default;

rules::ImportPreview ValidatedBatch::preview(Context& context, const Lease& lease, std::size_t part,
                                             std::size_t parts) const {
    const std::size_t all = impl_->valid.size();
    const std::size_t begin = all * part / parts;
    const std::size_t end = all * (part + 1) / parts;
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        rules::ImportPreview preview;
        for (std::size_t from = begin; from < end; from += rules::kBlockRows) {
            const std::size_t count = std::min<std::size_t>(rules::kBlockRows, end - from);
            const std::int64_t members =
                store::count_members_among(org, std::span(impl_->valid).subspan(from, count));
            preview.new_members += static_cast<std::int64_t>(count) - members;
            preview.existing_members += members;
        }
        return preview;
    });
}

void ValidatedBatch::record(Context& context, const Lease& lease,
                            const rules::ImportPreview& preview) const {
    store::ImportProgress progress = impl_->progress;
    progress.preview = preview;
    const BlockKey next = impl_->blocks.back().key.next();
    context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, lease.organization);
        for (std::size_t i = 0; i < impl_->blocks.size(); ++i) {
            store::write_outcome(org, lease.id, impl_->blocks[i].key, store::BlockState::Checked,
                                 impl_->outcomes[i], now);
        }
        if (!store::add_import_progress(org, lease.id, lease.owner, ImportState::Validating,
                                        progress, next, now, lease_end(context, now))) {
            throw LeaseLost{};
        }
        store::add_row_errors(org, lease.id, impl_->errors, now);
    });
}

std::optional<ValidatedBatch> validate_next(Context& context, const Lease& lease, DryRun& run) {
    auto blocks = read_batch(context, lease, run.next_block);
    if (blocks.empty()) return std::nullopt;
    run.next_block = blocks.back().key.next();
    return ValidatedBatch(std::move(blocks), attribute_registry(context, lease.organization),
                          run.claimed);
}

void finish_dry_run(Context& context, const Lease& lease) {
    finish_stage(context, lease, ImportState::Validating, ImportState::Validated);
}

}  // namespace muster::service
