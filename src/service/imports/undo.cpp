#include "service/imports/undo.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/imports/error_counts.hpp"
#include "rules/imports/undo.hpp"
#include "service/audit.hpp"
#include "service/imports/jobs.hpp"
#include "service/versions.hpp"
#include "store/ads/serving.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/imports/undo.hpp"
#include "store/members/list.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace muster::service {

using rules::ImportState;
using rules::RowOutcome;
using rules::RowState;
using store::BlockKey;

namespace {

// A prediction examines at most this many blocks with created, with attached and with merged rows,
// spread over the job: 12,000 rows in all.
constexpr std::size_t kExaminedBlocks = 8;
// It ends early when the blocks and their members have this size.
constexpr std::size_t kMostPredictionBytes = std::size_t{32} << 20U;
// A member has up to 800 KiB of attributes, and a block 500 members. So members are read in pieces
// of this size. A prediction decides only the first piece of a block.
constexpr std::int64_t kMostMemberBytes = std::int64_t{4} << 20U;
// The server reads the attributes to know their sizes, so a prediction asks for a few at a time.
constexpr std::size_t kSizesPerRead = 50;

// Rows of a block in order, and the users of those that the commit wrote.
struct Piece {
    std::size_t from = 0;
    std::size_t to = 0;  // exclusive
    std::vector<UserId> users = {};
    std::int64_t bytes = 0;  // of the members' attributes
};

// What an undo changes in the members of a piece.
struct UndoWrites {
    std::vector<UserId> removed_users;
    std::vector<MemberId> removed_members;
    std::vector<rules::Member> emptied;
};

void write_changes(db::OrgStore& org, UndoWrites changes, Timestamp now) {
    store::delete_members(org, changes.removed_users);
    store::delete_ad_days_of(org, changes.removed_members);
    for (rules::Member& member : changes.emptied) {
        member.updated_at = next_version(member.updated_at, now);
        store::update_member(org, member);
    }
}

// Decides what an undo does with the rows of one block. Call run() or predict(), once.
class BlockUndo {
  public:
    explicit BlockUndo(store::Block block)
        : block_(std::move(block)),
          rows_(rules::decode_rows(block_.data)),
          before_(rules::decode_outcomes(block_.outcome, rows_.size())),
          after_(before_) {}

    // Locks the members and writes what changes, one piece after the other.
    void run(db::OrgStore& org, Timestamp now) {
        const auto sizes = store::lock_member_sizes(org, users_of(0, before_.size()));
        for (std::size_t row = 0; row < before_.size();) {
            Piece piece{row, row};
            extend(piece, before_.size(), sizes);
            write_changes(org, decide(org, piece, store::lock_members(org, piece.users)), now);
            row = piece.to;
        }
    }

    // Only reads, and only the first piece. The rows after it do not count.
    void predict(db::OrgStore& org) {
        Piece piece;
        for (std::size_t known = 0; piece.to == known && known < before_.size();) {
            known = std::min(known + kSizesPerRead, before_.size());
            extend(piece, known, store::find_member_sizes(org, users_of(piece.to, known)));
        }
        if (!piece.users.empty()) decide(org, piece, store::find_members(org, piece.users));
        before_.resize(piece.to);
        after_.resize(piece.to);
        member_bytes_ = static_cast<std::size_t>(piece.bytes);
    }

    BlockKey key() const { return block_.key; }
    const std::vector<RowOutcome>& outcomes() const { return after_; }
    // Of the block and the members that a prediction read.
    std::size_t bytes() const { return block_.data.size() + member_bytes_; }
    // Of the rows that the commit left in this state; of all by default.
    rules::ImportUndo counts(std::optional<RowState> committed = std::nullopt) const {
        return rules::count_undo(before_, after_, committed);
    }

  private:
    std::vector<UserId> users_of(std::size_t from, std::size_t to) const {
        std::vector<UserId> users;
        for (std::size_t row = from; row < to; ++row) {
            if (rules::is_committed(before_[row].state)) users.push_back(before_[row].user_id);
        }
        return users;
    }

    // Adds the rows up to `end` whose members fit; one member always fits.
    void extend(Piece& piece, std::size_t end, const store::MemberSizes& sizes) const {
        for (; piece.to < end; ++piece.to) {
            const RowOutcome& outcome = before_[piece.to];
            if (!rules::is_committed(outcome.state)) continue;
            const auto size = sizes.find(outcome.user_id);
            const std::int64_t bytes = size == sizes.end() ? 0 : size->second;
            if (!piece.users.empty() && piece.bytes + bytes > kMostMemberBytes) return;
            piece.users.push_back(outcome.user_id);
            piece.bytes += bytes;
        }
    }

    // Decides the rows of the piece. `found`: its members.
    UndoWrites decide(db::OrgStore& org, const Piece& piece, std::vector<rules::Member> found) {
        std::vector<MemberId> ids;
        std::unordered_map<UserId, rules::Member> members;
        for (rules::Member& member : found) {
            ids.push_back(member.member_id);
            members.emplace(member.user_id, std::move(member));
        }
        const auto with_events = store::find_members_with_events(org, ids);
        UndoWrites changes;
        for (std::size_t row = piece.from; row < piece.to; ++row) {
            if (!rules::is_committed(before_[row].state)) continue;
            const auto member = members.find(before_[row].user_id);
            decide_row(row, member == members.end() ? nullptr : &member->second, with_events,
                       changes);
        }
        return changes;
    }

    void decide_row(std::size_t row, const rules::Member* member,
                    const std::unordered_set<MemberId>& with_events, UndoWrites& changes) {
        const bool has_events = member && with_events.contains(member->member_id);
        auto undo = rules::undo_row(rows_[row], before_[row], member, has_events);
        const RowState state = undo.outcome.state;
        if (state == RowState::Removed || state == RowState::Detached) {
            changes.removed_users.push_back(member->user_id);
            changes.removed_members.push_back(member->member_id);
        }
        if (undo.emptied) changes.emptied.push_back(std::move(*undo.emptied));
        after_[row] = std::move(undo.outcome);
    }

    store::Block block_;
    std::vector<rules::StagedRow> rows_;
    std::vector<RowOutcome> before_;
    std::vector<RowOutcome> after_;
    std::size_t member_bytes_ = 0;
};

void add(rules::ImportUndo& total, const rules::ImportUndo& more) {
    total.removed += more.removed;
    total.detached += more.detached;
    total.emptied += more.emptied;
    total.kept += more.kept;
    total.unaffected += more.unaffected;
    total.is_estimate = total.is_estimate || more.is_estimate;
}

// The states in which a commit leaves rows, with their counts by block.
struct CommittedState {
    RowState state;
    int store::CommittedRows::*count;
    std::int64_t rules::ImportUndo::*undone;  // if the member was not changed since
};
constexpr std::array kCommittedStates = {
    CommittedState{RowState::Created, &store::CommittedRows::created, &rules::ImportUndo::removed},
    CommittedState{RowState::Attached, &store::CommittedRows::attached,
                   &rules::ImportUndo::detached},
    CommittedState{RowState::Merged, &store::CommittedRows::merged, &rules::ImportUndo::emptied}};

using CommittedBlocks = std::vector<store::CommittedRows>;

// Appends those of the next `limit` blocks from number `from` on that have rows to undo, unless an
// earlier run reached them. Returns how many blocks were read.
std::size_t add_run(db::OrgStore& org, ImportId job, std::uint32_t from, int limit,
                    CommittedBlocks& to) {
    const auto run = store::count_committed_rows(org, job, {from, 0}, limit);
    for (const store::CommittedRows& block : run) {
        const bool is_new = to.empty() || to.back().key < block.key;
        if (is_new && block.any()) to.push_back(block);
    }
    return run.size();
}

struct CountedBlocks {
    CommittedBlocks blocks;   // with rows to undo
    bool is_complete = true;  // the job has no others
};

// Rows far apart have a block each, so a job can have 250,000. Of a job with more than 5,000 blocks
// it reads runs of 200, all over the job.
CountedBlocks count_blocks(db::OrgStore& org, ImportId job) {
    constexpr int kMostBlocks = 5'000;
    constexpr int kRuns = 25;
    CountedBlocks counted;
    if (add_run(org, job, 0, kMostBlocks + 1, counted.blocks) <= kMostBlocks) return counted;
    counted = {{}, false};
    const std::uint64_t last = store::find_last_block(org, job).value_or(BlockKey()).number;
    for (int run = 0; run < kRuns; ++run) {
        const auto from = static_cast<std::uint32_t>(last * run / kRuns);
        add_run(org, job, from, kMostBlocks / kRuns, counted.blocks);
    }
    return counted;
}

// The blocks with rows in the state. Of a large job at most kExaminedBlocks, from the middle of
// equal parts.
std::vector<BlockKey> sample_of(const CommittedBlocks& blocks, const CommittedState& state) {
    std::vector<BlockKey> keys;
    for (const store::CommittedRows& block : blocks) {
        if (block.*state.count > 0) keys.push_back(block.key);
    }
    const bool is_small = blocks.size() <= kExaminedBlocks * kCommittedStates.size();
    if (is_small || keys.size() <= kExaminedBlocks) return keys;
    std::vector<BlockKey> sample;
    for (std::size_t i = 0; i < kExaminedBlocks; ++i) {
        sample.push_back(keys[(2 * i + 1) * keys.size() / (2 * kExaminedBlocks)]);
    }
    return sample;
}

// The samples of all states, each block once. If a prediction ends early, the first ones are spread
// over the job.
std::vector<BlockKey> blocks_to_examine(const CommittedBlocks& blocks) {
    constexpr std::size_t kStride = 4;
    std::set<BlockKey> all;
    for (const CommittedState& state : kCommittedStates) {
        for (const BlockKey& key : sample_of(blocks, state)) all.insert(key);
    }
    const std::vector<BlockKey> sorted(all.begin(), all.end());
    std::vector<BlockKey> keys;
    for (std::size_t first = 0; first < kStride; ++first) {
        for (std::size_t i = first; i < sorted.size(); i += kStride) keys.push_back(sorted[i]);
    }
    return keys;
}

using Samples = std::array<rules::ImportUndo, kCommittedStates.size()>;

Samples examine(db::OrgStore& org, ImportId job, const std::vector<BlockKey>& keys) {
    Samples samples;
    std::size_t bytes = 0;
    for (const BlockKey& key : keys) {
        if (bytes >= kMostPredictionBytes) break;
        auto block = store::read_block(org, job, key);
        if (!block) continue;
        BlockUndo undo(std::move(*block));
        undo.predict(org);
        bytes += undo.bytes();
        for (std::size_t i = 0; i < samples.size(); ++i) {
            add(samples[i], undo.counts(kCommittedStates[i].state));
        }
    }
    return samples;
}

// Rows of a state of which no row was examined count as undone.
rules::ImportUndo scaled(rules::ImportUndo sample, const CommittedState& state,
                         std::int64_t total) {
    if (sample.rows() > 0 || total == 0) return rules::scaled(sample, total);
    sample.*state.undone = total;
    sample.is_estimate = true;
    return sample;
}

using Totals = std::array<std::int64_t, kCommittedStates.size()>;

// The number of rows of each state. If not all blocks were counted, the job knows how many rows
// there are, but not in which states.
Totals totals_of(const CountedBlocks& counted, std::int64_t rows) {
    Totals totals{};
    for (const store::CommittedRows& block : counted.blocks) {
        for (std::size_t i = 0; i < totals.size(); ++i)
            totals[i] += block.*kCommittedStates[i].count;
    }
    if (counted.is_complete) return totals;
    const std::int64_t seen = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
    for (std::int64_t& total : totals) total = seen == 0 ? 0 : total * rows / seen;
    totals[0] = rows - std::accumulate(totals.begin() + 1, totals.end(), std::int64_t{0});
    return totals;
}

// The number of rows is exact. What an undo does with them is scaled from a sample.
rules::ImportUndo predicted(db::OrgStore& org, const rules::ImportJob& job) {
    auto counts = job.undo.value_or(rules::ImportUndo());
    const CountedBlocks counted = count_blocks(org, job.id);
    const Samples samples = examine(org, job.id, blocks_to_examine(counted.blocks));
    const auto totals = totals_of(counted, job.created_count + job.attached_count - counts.rows());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        add(counts, scaled(samples[i], kCommittedStates[i], totals[i]));
    }
    return counts;
}

// Kept rows are the only ones with a new error.
rules::ErrorCounts errors_of(const std::vector<RowOutcome>& outcomes) {
    rules::ErrorCounts errors;
    for (const RowOutcome& outcome : outcomes) {
        if (outcome.state != RowState::Kept) continue;
        errors.add(outcome.error, rules::row_error_field(outcome.error, outcome.key));
    }
    return errors;
}

}  // namespace

rules::ImportJob undo_import(OrgTransaction& transaction, ImportId id, UndoMode mode) {
    db::OrgStore org(transaction.tx, transaction.org());
    const bool is_prediction = mode == UndoMode::Predict;
    auto job = is_prediction ? find_import(transaction, id) : lock_import(transaction, id);
    if (!rules::can_undo(job.state)) reject_import_state(job.state, "completed or failed");
    if (is_prediction) {
        job.undo = predicted(org, job);
        return job;
    }
    if (const auto active = store::move_import_to_undoing(org, id, transaction.now)) {
        throw Error(ErrorCode::ImportJobActiveExists).detail("job_id", active->text());
    }
    store::begin_import_phase(org, id, transaction.now);
    audit(transaction, "import.undone", id.text());
    return find_import(transaction, id);
}

std::vector<CommitUnit> next_undo_units(Context& context, const Lease& lease, BlockKey from,
                                        int most) {
    // Smaller than the units of a commit, because calls that change a member wait for its unit.
    constexpr std::size_t kBlocksPerUnit = 2;
    const auto keys = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        return store::find_committed_blocks(org, lease.id, from,
                                            most * static_cast<int>(kBlocksPerUnit));
    });
    return units_of(keys, kBlocksPerUnit);
}

void undo_unit(Context& context, const Lease& lease, const CommitUnit& unit) {
    context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, lease.organization);
        rules::ImportUndo counts;
        rules::ErrorCounts errors;
        for (const BlockKey& key : unit.blocks) {
            auto block = store::lock_committed_block(org, lease.id, key);
            if (!block) continue;
            BlockUndo undo(std::move(*block));
            undo.run(org, now);
            store::write_outcome(org, lease.id, undo.key(), store::BlockState::Undone,
                                 undo.outcomes(), now);
            add(counts, undo.counts());
            errors.add(errors_of(undo.outcomes()));
        }
        store::ImportProgress progress;
        progress.processed = counts.rows();
        if (!store::add_import_progress(org, lease.id, lease.owner, ImportState::Undoing, progress,
                                        std::nullopt, now, lease_end(context, now))) {
            throw LeaseLost{};
        }
        store::add_undo_counts(org, lease.id, counts);
        store::add_row_errors(org, lease.id, errors, now);
    });
}

void complete_undo(Context& context, const Lease& lease) {
    finish_stage(context, lease, ImportState::Undoing, ImportState::Undone);
}

}  // namespace muster::service
