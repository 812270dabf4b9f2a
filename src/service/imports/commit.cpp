#include "service/imports/commit.hpp"

#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "service/attributes.hpp"
#include "service/members/create.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"

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

// What a merged row filled, for an undo.
std::optional<rules::FilledRow> filled_row(const Attachment& written, Timestamp now) {
    if (written.outcome != rules::MemberOutcome::Merged) return std::nullopt;
    if (!written.filled.any()) return rules::FilledRow{};
    return rules::FilledRow{written.filled, now};
}

// Writes the valid rows of one block to the members table.
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
    std::int64_t attempted() const { return attempted_; }
    // The number of members that existed and were not changed.
    int unchanged() const { return unchanged_; }
    // Whether it wrote a member with large attributes.
    bool has_large() const { return has_large_; }
    void add_failures(rules::ErrorCounts& to) const {
        for (const RowOutcome& outcome : outcomes_) {
            if (outcome.state != RowState::Failed) continue;
            to.add(outcome.error, rules::row_error_field(outcome.error, outcome.key));
        }
    }

    // Writes all rows with one set of statements.
    void write(db::Tx& tx, OrgId organization, Expect expect, Timestamp now) {
        write_range(tx, organization, expect, now, 0, inputs_.size());
    }

    // The same, but only the rows that the database rejects fail. They are found by bisection.
    void write_row_by_row(db::Tx& tx, OrgId organization, Timestamp now) {
        write_or_split(tx, organization, now, 0, inputs_.size());
    }

  private:
    void add(std::size_t row, const rules::AttributeRegistry& registry, Timestamp now) {
        ++attempted_;
        const rules::StagedRow& staged = rows_[row];
        const auto result = rules::validate_attributes(registry, staged.attributes());
        if (result.result != AttributeResult::Good) {  // the registry changed since the dry run
            outcomes_[row] = {RowState::Failed, rules::row_error_of(result.result), result.key, {}};
            return;
        }
        MemberInput& input = inputs_.emplace_back();
        input.user_id = staged.user_id;
        input.member_id = staged.member_id;
        input.email = staged.email();
        std::copy_n(staged.texts.begin() + 1, input.texts.size(), input.texts.begin());
        input.attributes =
            rules::attribute_document(staged.attributes(), rules::Provenance::Import, now);
        row_indexes_.push_back(row);
    }

    void write_range(db::Tx& tx, OrgId organization, Expect expect, Timestamp now, std::size_t from,
                     std::size_t count) {
        const auto inputs = std::span<const MemberInput>(inputs_).subspan(from, count);
        const auto written = create_or_attach(tx, organization, inputs, expect, now);
        for (std::size_t i = 0; i < count; ++i) {
            outcomes_[row_indexes_[from + i]] = {state_of(written[i].outcome), RowError::None, "",
                                                 written[i].user_id, filled_row(written[i], now)};
            if (!written[i].is_written) ++unchanged_;
            has_large_ = has_large_ || written[i].is_large;
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
            outcomes_[row_indexes_[from]] = {RowState::Failed, RowError::WriteFailed, "", {}};
            return;
        }
        write_or_split(tx, organization, now, from, count / 2);
        write_or_split(tx, organization, now, from + count / 2, count - count / 2);
    }

    store::Block block_;
    std::vector<rules::StagedRow> rows_;
    std::vector<RowOutcome> outcomes_;
    std::vector<MemberInput> inputs_;
    std::vector<std::size_t> row_indexes_;  // the row index of each input
    std::int64_t attempted_ = 0;
    int unchanged_ = 0;
    bool has_large_ = false;
};

// Predicts the next block from the outcomes of the last one. If many people exist, looking them up
// first is faster: an INSERT of an existing address takes gap locks on the index, and two
// connections with random addresses deadlock over them.
Expect expectation_after(const rules::RowCounts& counts, int unchanged) {
    if (unchanged * 4 > counts.created + counts.attached + counts.merged) {
        return Expect::UnchangedMembers;
    }
    const int known = counts.attached + counts.merged;
    return known * 50 > counts.created ? Expect::KnownUsers : Expect::NewUsers;
}

enum class WriteMode : std::uint8_t { Batch, RowByRow };

// Commits the first of the blocks in one transaction, and returns their number: all, or those up to
// one that wrote a member with large attributes. The database logs such a member as a whole, and a
// cluster limits the size of a transaction.
std::size_t commit_first(Context& context, const Lease& lease, std::span<const BlockKey> blocks,
                         WriteMode mode) {
    thread_local Expect expect = Expect::NewUsers;
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, lease.organization);
        const auto registry = attribute_registry_for_writing(tx, lease.organization);
        store::ImportProgress progress;
        rules::ErrorCounts errors;
        std::size_t count = 0;
        for (bool has_large = false; count < blocks.size() && !has_large;) {
            auto block = store::lock_uncommitted_block(org, lease.id, blocks[count++]);
            if (!block) continue;
            BlockCommit commit(std::move(*block), registry, now);
            mode == WriteMode::Batch ? commit.write(tx, lease.organization, expect, now)
                                     : commit.write_row_by_row(tx, lease.organization, now);
            store::write_outcome(org, lease.id, commit.key(), store::BlockState::Committed,
                                 commit.outcomes(), now);
            const rules::RowCounts counts = rules::count_states(commit.outcomes());
            progress.processed += commit.attempted();
            progress.created += counts.created;
            progress.attached += counts.attached + counts.merged;
            progress.failed += counts.failed;
            if (counts.failed > 0) commit.add_failures(errors);
            expect = expectation_after(counts, commit.unchanged());
            has_large = commit.has_large();
        }
        if (!store::add_import_progress(org, lease.id, lease.owner, ImportState::Committing,
                                        progress, std::nullopt, now, lease_end(context, now))) {
            throw LeaseLost{};
        }
        store::add_row_errors(org, lease.id, errors, now);
        return count;
    });
}

void commit_blocks(Context& context, const Lease& lease, const CommitUnit& unit, WriteMode mode) {
    std::span<const BlockKey> rest(unit.blocks);
    while (!rest.empty()) rest = rest.subspan(commit_first(context, lease, rest, mode));
}

}  // namespace

std::vector<CommitUnit> units_of(const std::vector<BlockKey>& keys, std::size_t blocks_per_unit) {
    std::vector<CommitUnit> units;
    for (const BlockKey& key : keys) {
        if (units.empty() || units.back().blocks.size() == blocks_per_unit) units.emplace_back();
        units.back().blocks.push_back(key);
    }
    return units;
}

std::vector<CommitUnit> next_commit_units(Context& context, const Lease& lease,
                                          rules::BlockKey from, int most) {
    constexpr std::size_t kBlocksPerUnit = 10;
    const auto keys = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        return store::find_uncommitted_blocks(org, lease.id, from,
                                              most * static_cast<int>(kBlocksPerUnit));
    });
    return units_of(keys, kBlocksPerUnit);
}

void commit_unit(Context& context, const Lease& lease, const CommitUnit& unit) {
    try {
        commit_blocks(context, lease, unit, WriteMode::Batch);
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        commit_blocks(context, lease, unit, WriteMode::RowByRow);
    }
}

void complete_import(Context& context, const Lease& lease) {
    finish_stage(context, lease, ImportState::Committing, ImportState::Completed);
}

}  // namespace muster::service
