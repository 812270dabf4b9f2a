#include "service/batch_writer.hpp"

#include "db/transaction.hpp"

namespace muster::service {

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
    while (parts.size() > 1) {
        if (!write_together(parts, together)) break;
    }
    for (const BatchPart& part : parts) write_alone(part);
    for (const BatchPart& part : probes) write_alone(part);
}

// Removes the parts of organizations with locked rows. Refuses them, except one part of each
// organization whose time is over. These are returned, to be written after all others.
std::vector<BatchPart> BatchWriter::take_probes(std::vector<BatchPart>& parts) {
    const auto now = Clock::now();
    std::set<OrgId> probed;
    std::vector<BatchPart> probes;
    std::vector<BatchPart> open;
    for (BatchPart& part : parts) {
        const auto access = locked_.access(part.organization, now);
        if (access == LockedOrganizations::Access::Open) {
            open.push_back(std::move(part));
        } else if (access == LockedOrganizations::Access::Probe &&
                   probed.insert(part.organization).second) {
            probes.push_back(std::move(part));
        } else {
            refuse(part);
        }
    }
    parts = std::move(open);
    return probes;
}

// Removes the parts that got their outcome. Returns false if nothing was written and each part
// should be written separately.
bool BatchWriter::write_together(std::vector<BatchPart>& parts, const WriteTogether& together) {
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
        return true;
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::Gone) return false;
        // The result of the commit is unknown, so a retry could write the calls twice.
        for (const BatchPart& part : parts) fail(part, std::current_exception());
        parts.clear();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void BatchWriter::write_alone(const BatchPart& part) {
    const auto now = Clock::now();
    if (locked_.access(part.organization, now) == LockedOrganizations::Access::Closed) {
        return refuse(part);
    }
    try {
        settle(part, context_.database.transaction(part.write, db::OnLockTimeout::Throw));
        locked_.succeeded(part.organization);
    } catch (const db::DbError& error) {
        if (error.kind() == db::DbError::Kind::LockTimeout)
            locked_.timed_out(part.organization, Clock::now());
        fail(part, std::current_exception());
    } catch (const Error& error) {
        note(part.organization, error);
        fail(part, std::current_exception());
    } catch (const std::exception&) {
        locked_.succeeded(part.organization);
        fail(part, std::current_exception());
    }
}

// One locked record concerns one Idempotency-Key. The second one of a batch closes the
// organization, so that many keys cannot hold up the batch.
void BatchWriter::note(OrgId organization, const Error& error) {
    if (!is_record_timeout(error)) return locked_.succeeded(organization);
    const auto now = Clock::now();
    const bool is_first = waited_.insert(organization).second;
    if (is_first && locked_.access(organization, now) == LockedOrganizations::Access::Open) return;
    locked_.timed_out(organization, now);
}

void BatchWriter::refuse(const BatchPart& part) {
    fail(part, std::make_exception_ptr(
                   Error(ErrorCode::ServiceUnavailable)
                       .retry_after(locked_.seconds_left(part.organization, Clock::now()))
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
