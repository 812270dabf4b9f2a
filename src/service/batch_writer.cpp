#include "service/batch_writer.hpp"

#include "db/transaction.hpp"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace muster::service {

using Access = LockedOrganizations::Access;
using Clock = LockedOrganizations::Clock;

namespace {

// True if the part waited for the locked record of its Idempotency-Key until the timeout.
bool is_record_timeout(const Error& error) {
    return error.code() == ErrorCode::IdempotencyInProgress;
}

}  // namespace

std::vector<PartOutcome> write_one_after_another(db::Tx& tx, std::span<const BatchPart> parts) {
    std::vector<PartOutcome> outcomes;
    outcomes.reserve(parts.size());
    for (const BatchPart& part : parts) {
        PartOutcome& outcome = outcomes.emplace_back();
        tx.attempt_or_undo([&] {
            try {
                outcome = part.write(tx);
                return true;
            } catch (const Error& error) {
                // The next part would wait too, with the locks of this transaction.
                if (is_record_timeout(error)) throw;
                outcome = std::current_exception();
                return false;
            }
        });
    }
    return outcomes;
}

void BatchWriter::write(std::vector<BatchPart> parts, const WriteTogether& together) {
    const auto probes = take_probes(parts);
    write_open(std::move(parts), together);
    for (const BatchPart& part : probes) write_alone(part);
}

// Most locks are those of another collector, which commits within a few milliseconds. So a locked
// row costs one more attempt, and not a commit for each part.
void BatchWriter::write_open(std::vector<BatchPart> parts, const WriteTogether& together) {
    constexpr std::chrono::milliseconds kShortLock{2};
    constexpr std::chrono::milliseconds kLongAttempt{100};  // the database waited for the lock
    bool has_paused = false;
    for (leave_closed(parts); parts.size() > 1; leave_closed(parts)) {
        const auto begin = Clock::now();
        const Joint joint = write_together(parts, together);
        if (joint == Joint::Done) continue;
        if (Clock::now() - begin > kLongAttempt) break;
        if (joint == Joint::Locked && !std::exchange(has_paused, true)) {
            std::this_thread::sleep_for(kShortLock);
            continue;
        }
        const auto middle = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2);
        std::vector<BatchPart> later(std::make_move_iterator(middle),
                                     std::make_move_iterator(parts.end()));
        parts.erase(middle, parts.end());
        write_open(std::move(parts), together);
        return write_open(std::move(later), together);
    }
    for (const BatchPart& part : parts) write_alone(part);
}

// A locked row of an organization was found in this batch. The organization's other parts may need
// the row too.
void BatchWriter::leave_closed(std::vector<BatchPart>& parts) {
    if (closed_.empty()) return;
    std::erase_if(parts, [&](const BatchPart& part) {
        const bool is_closed = closed_.contains(part.organization);
        if (is_closed) leave(part);
        return is_closed;
    });
}

// Removes the parts of organizations with locked rows. Leaves them to a later batch, except one
// part of each organization whose time is over. These are returned, to be written after all others.
std::vector<BatchPart> BatchWriter::take_probes(std::vector<BatchPart>& parts) {
    const auto now = Clock::now();
    std::set<OrgId> probed;
    std::vector<BatchPart> probes;
    std::vector<BatchPart> open;
    for (BatchPart& part : parts) {
        const auto access = locked_.access(part.organization, now);
        if (access == Access::Open) {
            open.push_back(std::move(part));
        } else if (access == Access::Probe && probed.insert(part.organization).second) {
            probes.push_back(std::move(part));
        } else {
            leave(part);
        }
    }
    parts = std::move(open);
    return probes;
}

// Removes the parts that got their outcome. Unless the result is Done, nothing was written.
BatchWriter::Joint BatchWriter::write_together(std::vector<BatchPart>& parts,
                                               const WriteTogether& together) {
    try {
        auto outcomes = context_.database.transaction(
            [&](db::Tx& tx) { return together(tx, parts); }, db::OnLockTimeout::Throw);
        std::vector<BatchPart> remaining;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (outcomes[i]) {
                settle(parts[i], std::move(*outcomes[i]));
            } else {
                remaining.push_back(std::move(parts[i]));
            }
        }
        parts = std::move(remaining);
        return Joint::Done;
    } catch (const db::DbError& error) {
        if (error.kind() == db::DbError::Kind::LockTimeout) return Joint::Locked;
        if (error.kind() != db::DbError::Kind::Gone) return Joint::Failed;
        // The result of the commit is unknown, so a retry could write the calls twice.
        for (const BatchPart& part : parts) fail(part, std::current_exception());
        parts.clear();
        return Joint::Done;
    } catch (const Error& error) {
        return is_record_timeout(error) ? Joint::Locked : Joint::Failed;
    } catch (const std::exception&) {
        return Joint::Failed;
    }
}

void BatchWriter::write_alone(const BatchPart& part) {
    const auto now = Clock::now();
    const bool is_closed = locked_.access(part.organization, now) == Access::Closed;
    if (is_closed || closed_.contains(part.organization)) return leave(part);
    const auto waited = [now] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - now);
    };
    try {
        settle(part, context_.database.transaction(part.write, db::OnLockTimeout::Throw));
        locked_.succeeded(part.organization);
    } catch (const db::DbError& error) {
        if (error.kind() == db::DbError::Kind::LockTimeout) {
            close(part.organization, waited());
            return leave(part);
        }
        if (part.split && error.kind() == db::DbError::Kind::BadData) return write_split(part);
        fail(part, std::current_exception());
    } catch (const Error& error) {
        if (is_record_timeout(error)) return note_timeout(part, waited());
        locked_.succeeded(part.organization);
        fail(part, std::current_exception());
    } catch (const std::exception&) {
        locked_.succeeded(part.organization);
        fail(part, std::current_exception());
    }
}

// The database may refuse the values of one call. Then the others are written.
void BatchWriter::write_split(const BatchPart& part) {
    for (const BatchPart& one : part.split()) write_alone(one);
}

// Called for an IDEMPOTENCY_IN_PROGRESS that is being handled. One locked record concerns one
// Idempotency-Key. The second one of a batch closes the organization, so that many keys cannot hold
// up the batch.
void BatchWriter::note_timeout(const BatchPart& part, std::chrono::milliseconds waited) {
    const auto access = locked_.access(part.organization, Clock::now());
    const bool is_first = waited_.insert(part.organization).second;
    if (!is_first || access != Access::Open) close(part.organization, waited);
    leave(part, std::current_exception());
}

void BatchWriter::close(OrgId organization, std::chrono::milliseconds waited) {
    locked_.timed_out(organization, Clock::now(), waited);
    closed_.insert(organization);
}

void BatchWriter::leave(const BatchPart& part, const std::exception_ptr& reason) {
    const auto until = locked_.next_attempt(part.organization, Clock::now());
    for (const std::size_t index : part.indexes) outcomes_[index] = RowsLocked{until, reason};
}

void BatchWriter::leave(const BatchPart& part) {
    const auto now = Clock::now();
    const auto left =
        std::chrono::ceil<std::chrono::seconds>(locked_.next_attempt(part.organization, now) - now);
    leave(part, std::make_exception_ptr(
                    Error(ErrorCode::ServiceUnavailable)
                        .retry_after(std::max(1, static_cast<int>(left.count())))
                        .internal("another transaction locks a row that the organization needs")));
}

void BatchWriter::settle(const BatchPart& part,
                         std::variant<std::vector<StoredReply>, std::exception_ptr> outcome) {
    if (const auto* reason = std::get_if<std::exception_ptr>(&outcome)) return fail(part, *reason);
    auto& replies = std::get<std::vector<StoredReply>>(outcome);
    for (std::size_t i = 0; i < part.indexes.size(); ++i) {
        outcomes_[part.indexes[i]] = std::move(replies[i]);
    }
}

void BatchWriter::fail(const BatchPart& part, const std::exception_ptr& reason) {
    for (const std::size_t index : part.indexes) outcomes_[index] = reason;
}

}  // namespace muster::service
