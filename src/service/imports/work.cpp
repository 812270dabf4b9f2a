#include "service/imports/work.hpp"

#include "base/crypto.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/attributes.hpp"
#include "service/members/create.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace muster::service {
namespace {

using rules::AttributeVerdict;
using rules::ImportState;
using rules::RowError;
using rules::RowOutcome;
using rules::RowState;
using store::BlockKey;

constexpr int kBlocksPerCheck = 10;

Timestamp lease_end(const Context& context, Timestamp now) {
    return now + Milliseconds(context.settings.jobs.lease * 1000);
}

RowState state_of(rules::MemberOutcome outcome) {
    switch (outcome) {
        case rules::MemberOutcome::Created:
            return RowState::Created;
        case rules::MemberOutcome::Attached:
            return RowState::Attached;
        case rules::MemberOutcome::Merged:
            return RowState::Merged;
    }
    return RowState::Failed;
}

RowError error_for(AttributeVerdict verdict) {
    switch (verdict) {
        case AttributeVerdict::Good:
            return RowError::None;
        case AttributeVerdict::UnknownKey:
            return RowError::AttrUnknownKey;
        case AttributeVerdict::InvalidValue:
            return RowError::AttrInvalidValue;
    }
    return RowError::AttrInvalidValue;
}

void finish(Context& context, const Lease& lease, ImportState from, ImportState to) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        if (!store::finish_import(org, lease.id, lease.owner, from, to, std::nullopt,
                                  Timestamp::now())) {
            throw LeaseLost{};
        }
    });
}

// ---------------------------------------------------------------------------- dry run

std::vector<store::Block> read_batch(Context& context, const Lease& lease, BlockKey from) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        return store::read_blocks(org, lease.id, from, store::BlockFilter::All, kBlocksPerCheck);
    });
}

RowOutcome judge(const rules::StagedRow& row, const rules::AttributeRegistry& registry,
                 ClaimedEmails& claimed) {
    // The lowest row number claims the address, valid itself or not.
    if (!claimed.claim(row.email())) return {RowState::Invalid, RowError::DuplicateInFile, "", {}};
    const auto verdict = rules::validate_attributes(registry, row.attributes());
    if (verdict.verdict == AttributeVerdict::Good) return {RowState::Valid, RowError::None, "", {}};
    return {RowState::Invalid, error_for(verdict.verdict), verdict.key, {}};
}

// ---------------------------------------------------------------------------- commit

// A block on its way into the members table.
class BlockCommit {
  public:
    BlockCommit(store::Block block, const rules::AttributeRegistry& registry, Timestamp now)
        : block_(std::move(block)),
          rows_(rules::decode_rows(block_.data)),
          outcomes_(rules::decode_outcomes(block_.outcome, rows_.size())) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (outcomes_[i].state == RowState::Valid) add(i, registry, now);
        }
    }

    BlockKey key() const { return block_.key; }
    const std::vector<RowOutcome>& outcomes() const { return outcomes_; }
    std::int64_t tried() const { return tried_; }

    // One statement set for all rows.
    void write(db::Tx& tx, OrgId organization, Expect expect, Timestamp now) {
        write_range(tx, organization, expect, now, 0, inputs_.size());
    }

    // The same, but rows that the database refuses fail alone: halved until they are found.
    void write_carefully(db::Tx& tx, OrgId organization, Timestamp now) {
        write_or_split(tx, organization, now, 0, inputs_.size());
    }

  private:
    void add(std::size_t row, const rules::AttributeRegistry& registry, Timestamp now) {
        ++tried_;
        const rules::StagedRow& staged = rows_[row];
        const auto verdict = rules::validate_attributes(registry, staged.attributes());
        if (verdict.verdict !=
            AttributeVerdict::Good) {  // the registry has changed since the dry run
            outcomes_[row] = {RowState::Failed, error_for(verdict.verdict), verdict.key, {}};
            return;
        }
        MemberInput& input = inputs_.emplace_back();
        input.user_id = staged.user_id;
        input.member_id = staged.member_id;
        input.email = staged.email();
        std::copy_n(staged.texts.begin() + 1, input.texts.size(), input.texts.begin());
        input.attributes =
            rules::attribute_document(staged.attributes(), rules::Provenance::Import, now);
        places_.push_back(row);
    }

    void write_range(db::Tx& tx, OrgId organization, Expect expect, Timestamp now, std::size_t from,
                     std::size_t count) {
        const auto inputs = std::span<const MemberInput>(inputs_).subspan(from, count);
        const auto written = create_or_attach(tx, organization, inputs, expect, now);
        for (std::size_t i = 0; i < count; ++i) {
            outcomes_[places_[from + i]] = {state_of(written[i].outcome), RowError::None, "",
                                            written[i].user_id};
        }
    }

    void write_or_split(db::Tx& tx, OrgId organization, Timestamp now, std::size_t from,
                        std::size_t count) {
        if (count == 0) return;
        if (tx.attempt(
                [&] { write_range(tx, organization, Expect::NewUsers, now, from, count); })) {
            return;
        }
        if (count == 1) {
            outcomes_[places_[from]] = {RowState::Failed, RowError::WriteFailed, "", {}};
            return;
        }
        write_or_split(tx, organization, now, from, count / 2);
        write_or_split(tx, organization, now, from + count / 2, count - count / 2);
    }

    store::Block block_;
    std::vector<rules::StagedRow> rows_;
    std::vector<RowOutcome> outcomes_;
    std::vector<MemberInput> inputs_;
    std::vector<std::size_t> places_;  // the row of each input
    std::int64_t tried_ = 0;
};

// The last block's outcomes foretell the next one's. Once people are known, looking them up first
// pays: an INSERT that meets an address takes gap locks on the index, and two connections with
// random addresses deadlock over them.
Expect expectation_after(const rules::RowCounts& counts) {
    const int known = counts.attached + counts.merged;
    return known * 50 > counts.created ? Expect::KnownUsers : Expect::NewUsers;
}

enum class Care : std::uint8_t { Fast, RowByRow };

void commit_blocks(Context& context, const Lease& lease, const CommitUnit& unit, Care care) {
    thread_local Expect expect = Expect::NewUsers;
    context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, lease.organization);
        const auto registry = attribute_registry_for_writing(tx, lease.organization);
        store::ImportProgress progress;
        for (const BlockKey& key : unit.blocks) {
            auto block = store::lock_uncommitted_block(org, lease.id, key);
            if (!block) continue;
            BlockCommit commit(std::move(*block), registry, now);
            care == Care::Fast ? commit.write(tx, lease.organization, expect, now)
                               : commit.write_carefully(tx, lease.organization, now);
            store::write_outcome(org, lease.id, commit.key(), store::BlockState::Committed,
                                 commit.outcomes(), now);
            const rules::RowCounts counts = rules::count_states(commit.outcomes());
            progress.processed += commit.tried();
            progress.created += counts.created;
            progress.attached += counts.attached + counts.merged;
            progress.failed += counts.failed;
            expect = expectation_after(counts);
        }
        if (!store::add_import_progress(org, lease.id, lease.owner, ImportState::Committing,
                                        progress, std::nullopt, now, lease_end(context, now))) {
            throw LeaseLost{};
        }
    });
}

}  // namespace

// ---------------------------------------------------------------------------- lease

// Claims and their ends are transactions: a lost connection undoes what was not committed, so that
// the second run finds the job as it was.
std::optional<Lease> claim_due_import(Context& context, const Uuid& owner) {
    return context.database.transaction([&](db::Tx& tx) -> std::optional<Lease> {
        const Timestamp now = Timestamp::now();
        const auto due = store::find_due_import(tx, now);
        if (!due) return std::nullopt;
        db::OrgStore org(tx, due->organization);
        if (!store::claim_import(org, due->id, owner, now, lease_end(context, now)))
            return std::nullopt;
        return Lease{due->organization, due->id, owner};
    });
}

bool another_import_waits(Context& context) {
    return context.database.autocommit(
        [](db::Tx& tx) { return store::find_due_import(tx, Timestamp::now()).has_value(); });
}

void release_import(Context& context, const Lease& lease, AttemptPolicy turn, Milliseconds pause) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        const Timestamp now = Timestamp::now();
        store::release_import(org, lease.id, lease.owner, turn == AttemptPolicy::Forgive, now,
                              now + pause);
    });
}

void fail_import(Context& context, const Lease& lease, ImportState from,
                 const rules::ImportFailure& failure) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        store::finish_import(org, lease.id, lease.owner, from, ImportState::Failed, failure,
                             Timestamp::now());
    });
}

// ---------------------------------------------------------------------------- dry run

bool ClaimedEmails::claim(std::string_view email) {
    Digest digest{};
    const std::string hash = sha256(email);
    std::memcpy(&digest, hash.data(), sizeof digest);
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
            for (const auto& row : rules::decode_rows(block.data)) run.claimed.claim(row.email());
        }
        if (blocks.empty()) return run;
        from = blocks.back().key.next();
    }
    return run;
}

struct ValidatedBatch::Impl {
    std::vector<store::Block> blocks;
    std::vector<std::vector<RowOutcome>> outcomes;  // of each block
    std::vector<std::string_view> valid;            // addresses, in the blocks' bytes
    store::ImportProgress progress;
};

ValidatedBatch::ValidatedBatch(std::vector<store::Block> blocks,
                               const rules::AttributeRegistry& registry, ClaimedEmails& claimed)
    : impl_(std::make_unique<Impl>()) {
    impl_->blocks = std::move(blocks);
    for (const store::Block& block : impl_->blocks) {
        auto& outcomes = impl_->outcomes.emplace_back();
        for (const rules::StagedRow& row : rules::decode_rows(block.data)) {
            outcomes.push_back(judge(row, registry, claimed));
            if (outcomes.back().state == RowState::Valid) impl_->valid.push_back(row.email());
        }
        impl_->progress.processed += static_cast<std::int64_t>(outcomes.size());
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
            const auto known =
                store::count_known(org, std::span(impl_->valid).subspan(from, count));
            preview.create += static_cast<std::int64_t>(count) - known.users;
            preview.attach += known.users - known.members;
            preview.merge += known.members;
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
    finish(context, lease, ImportState::Validating, ImportState::Validated);
}

// ---------------------------------------------------------------------------- commit

std::vector<CommitUnit> next_commit_units(Context& context, const Lease& lease,
                                          rules::BlockKey from, int most) {
    constexpr std::size_t kBlocksPerUnit = 10;
    const auto keys = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        return store::find_uncommitted_blocks(org, lease.id, from,
                                              most * static_cast<int>(kBlocksPerUnit));
    });
    std::vector<CommitUnit> units;
    for (const BlockKey& key : keys) {
        if (units.empty() || units.back().blocks.size() == kBlocksPerUnit) units.emplace_back();
        units.back().blocks.push_back(key);
    }
    return units;
}

void commit_unit(Context& context, const Lease& lease, const CommitUnit& unit) {
    try {
        commit_blocks(context, lease, unit, Care::Fast);
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        commit_blocks(context, lease, unit, Care::RowByRow);
    }
}

void complete_import(Context& context, const Lease& lease) {
    finish(context, lease, ImportState::Committing, ImportState::Completed);
}

}  // namespace muster::service
