#include "service/engagement/collect.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/engagement/events.hpp"

#include <map>

namespace muster::service {
namespace {

// What may be committed together with others: the requests it is for, and how it writes them.
struct Part {
    OrgId organization;
    std::vector<std::size_t> places;  // of the calls
    // Throws Error for what is wrong with it; gives a reply for each place.
    std::function<std::vector<StoredReply>(db::Tx&)> write;
};

// What an organization's pages track is written by one statement.
Part tracked_part(OrgId organization, const std::vector<std::size_t>& places,
                  std::span<const CollectedCall> calls) {
    std::vector<const TrackedCall*> tracked;
    tracked.reserve(places.size());
    for (const std::size_t place : places) {
        tracked.push_back(&std::get<TrackedCall>(calls[place].events));
    }
    return {organization, places, [calls, places, tracked = std::move(tracked)](db::Tx& tx) {
                OrgTransaction transaction{tx, tracked[0]->actor, Timestamp::now()};
                const auto counts = track_events(transaction, tracked);
                std::vector<StoredReply> replies;
                replies.reserve(places.size());
                for (std::size_t i = 0; i < places.size(); ++i) {
                    replies.push_back(calls[places[i]].reply(counts[i]));
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
    for (const auto& [organization, places] : by_organization) {
        parts.push_back(tracked_part(organization, places, calls));
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
    // False when nothing was written and each part should be tried by itself.
    bool write_together(const std::vector<Part>& parts) {
        try {
            const auto write_all = [&](db::Tx& tx) {
                for (const Part& part : parts) write_beside(tx, part);
            };
            context_.database.transaction(write_all, db::OnLockTimeout::Throw);
            return true;
        } catch (const db::DbError& error) {
            if (error.kind() != db::DbError::Kind::Gone) return false;
            // Whether it was committed, nobody knows: again could be twice.
            for (const Part& part : parts) fail(part, std::current_exception());
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }

    // What is wrong with this part alone undoes this part alone.
    void write_beside(db::Tx& tx, const Part& part) {
        std::exception_ptr wrong;
        const bool is_written = tx.attempt_or_undo([&] {
            try {
                succeed(part, part.write(tx));
                return true;
            } catch (const Error&) {
                wrong = std::current_exception();
                return false;
            }
        });
        if (!is_written) fail(part, wrong);
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
        for (std::size_t i = 0; i < part.places.size(); ++i) {
            outcomes_[part.places[i]] = std::move(replies[i]);
        }
    }
    void fail(const Part& part, const std::exception_ptr& reason) {
        for (const std::size_t place : part.places) outcomes_[place] = reason;
    }

    Context& context_;
    std::vector<Outcome>& outcomes_;
    // Whose rows were waited for in vain: nobody waits for them once more for each of its calls.
    std::map<OrgId, std::exception_ptr> locked_;
};

}  // namespace

std::vector<Outcome> collect(Context& context, std::span<const CollectedCall> calls) {
    std::vector<Outcome> outcomes(calls.size());
    EventWriter writer(context, outcomes);
    // Apart: what modules push holds its members' rows until it is committed, and waits for them;
    // what pages track holds none.
    writer.write(tracked_parts(calls));
    writer.write(pushed_parts(context, calls));
    return outcomes;
}

}  // namespace muster::service
