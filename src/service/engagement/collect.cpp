#include "service/engagement/collect.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/engagement/events.hpp"

#include <map>

namespace muster::service {
namespace {

// One unit of writing: the calls it covers and the function that writes them.
struct Part {
    OrgId organization;
    std::vector<std::size_t> indexes;  // indexes of the calls
    // Returns one reply for each index. Throws Error if the part is invalid.
    std::function<std::vector<StoredReply>(db::Tx&)> write;
};

// One statement writes the tracked events of an organization.
Part tracked_part(OrgId organization, const std::vector<std::size_t>& indexes,
                  std::span<const CollectedCall> calls) {
    std::vector<const TrackedCall*> tracked;
    tracked.reserve(indexes.size());
    for (const std::size_t index : indexes) {
        tracked.push_back(&std::get<TrackedCall>(calls[index].events));
    }
    return {organization, indexes, [calls, indexes, tracked = std::move(tracked)](db::Tx& tx) {
                OrgTransaction transaction{tx, tracked[0]->actor, Timestamp::now()};
                const auto counts = track_events(transaction, tracked);
                std::vector<StoredReply> replies;
                replies.reserve(indexes.size());
                for (std::size_t i = 0; i < indexes.size(); ++i) {
                    replies.push_back(calls[indexes[i]].reply(counts[i]));
                }
                return replies;
            }};
}

std::vector<Part> tracked_parts(std::span<const CollectedCall> calls) {
    std::map<OrgId, std::vector<std::size_t>> by_organization;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (const auto* tracked = std::get_if<TrackedCall>(&calls[i].events)) {
            by_organization[tracked->actor.organization].push_back(i);
        }
    }
    std::vector<Part> parts;
    parts.reserve(by_organization.size());
    for (const auto& [organization, indexes] : by_organization) {
        parts.push_back(tracked_part(organization, indexes, calls));
    }
    return parts;
}

std::vector<Part> pushed_parts(const Context& context, std::span<const CollectedCall> calls) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto* pushed = std::get_if<PushedCall>(&calls[i].events);
        if (!pushed) continue;
        parts.push_back(
            {pushed->actor.organization,
             {i},
             [&context, pushed, &reply = calls[i].reply](db::Tx& tx) {
                 const auto work = [&](OrgTransaction& transaction) {
                     return reply(ingest_events(transaction, pushed->installation, pushed->events));
                 };
                 return std::vector{transact_in(tx, context, pushed->actor, pushed->claim, work)};
             }});
    }
    return parts;
}

class EventWriter {
  public:
    EventWriter(Context& context, std::vector<Outcome>& outcomes)
        : context_(context), outcomes_(outcomes) {}

    void write(const std::vector<Part>& parts) {
        if (parts.empty()) return;
        if (parts.size() == 1 || !write_together(parts)) {
            for (const Part& part : parts) write_alone(part);
        }
    }

  private:
    // Returns false if nothing was written and each part should be written separately.
    bool write_together(const std::vector<Part>& parts) {
        try {
            const auto write_all = [&](db::Tx& tx) {
                for (const Part& part : parts) write_part(tx, part);
            };
            context_.database.transaction(write_all, db::OnLockTimeout::Throw);
            return true;
        } catch (const db::DbError& error) {
            if (error.kind() != db::DbError::Kind::Gone) return false;
            // The result of the commit is unknown, so a retry could write the events twice.
            for (const Part& part : parts) fail(part, std::current_exception());
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }

    // Writes one part inside the shared transaction. An error rolls back this part only.
    void write_part(db::Tx& tx, const Part& part) {
        std::exception_ptr error;
        const bool is_written = tx.attempt_or_undo([&] {
            try {
                succeed(part, part.write(tx));
                return true;
            } catch (const Error&) {
                error = std::current_exception();
                return false;
            }
        });
        if (!is_written) fail(part, error);
    }

    void write_alone(const Part& part) {
        const auto locked = locked_.find(part.organization);
        if (locked != locked_.end()) return fail(part, locked->second);
        try {
            succeed(part, context_.database.transaction(part.write, db::OnLockTimeout::Throw));
        } catch (const db::DbError& error) {
            if (error.kind() == db::DbError::Kind::LockTimeout) {
                locked_.emplace(part.organization, std::current_exception());
            }
            fail(part, std::current_exception());
        } catch (const std::exception&) {
            fail(part, std::current_exception());
        }
    }

    void succeed(const Part& part, std::vector<StoredReply> replies) {
        for (std::size_t i = 0; i < part.indexes.size(); ++i) {
            outcomes_[part.indexes[i]] = std::move(replies[i]);
        }
    }
    void fail(const Part& part, const std::exception_ptr& reason) {
        for (const std::size_t index : part.indexes) outcomes_[index] = reason;
    }

    Context& context_;
    std::vector<Outcome>& outcomes_;
    // Organizations whose rows caused a lock timeout. Their other calls fail at once instead of
    // waiting again.
    std::map<OrgId, std::exception_ptr> locked_;
};

}  // namespace

std::vector<Outcome> collect(Context& context, std::span<const CollectedCall> calls) {
    std::vector<Outcome> outcomes(calls.size());
    EventWriter writer(context, outcomes);
    // In two transactions: pushed events lock their members' rows until the commit, tracked events
    // lock no rows.
    writer.write(tracked_parts(calls));
    writer.write(pushed_parts(context, calls));
    return outcomes;
}

}  // namespace muster::service
