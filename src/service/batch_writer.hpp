// Writes the calls that a collector gathers (service/collecting.hpp) in one transaction, so that
// one call cannot fail or delay the others for long (docs/developers/architecture.md "The
// collectors").
#pragma once

#include "base/error.hpp"
#include "service/idempotency.hpp"
#include "service/locked_organizations.hpp"

#include <exception>
#include <functional>
#include <set>
#include <span>
#include <variant>
#include <vector>

namespace muster::service {

// Another transaction locks a row that the call needs. The call changed nothing.
struct RowsLocked {
    LockedOrganizations::Clock::time_point until;  // when to try it again
    std::exception_ptr reason;                     // for a call that may not wait
};

// The reply after the commit, or the reason why the call changed nothing.
using Outcome = std::variant<StoredReply, std::exception_ptr, RowsLocked>;

// The calls of one organization that are written together.
struct BatchPart {
    OrgId organization;
    std::vector<std::size_t> indexes;  // of the calls
    // Writes the part in a transaction of its own. Returns one reply for each index.
    std::function<std::vector<StoredReply>(db::Tx&)> write;
    // Returns a part for each call. Empty if the part has one call.
    std::function<std::vector<BatchPart>()> split = {};
};

// The replies of a part, or the reason why the part changed nothing. nullopt: the part must be
// written in a further transaction, after this one.
using PartOutcome = std::optional<std::variant<std::vector<StoredReply>, std::exception_ptr>>;
// Writes several parts in one transaction; at least one of them must get its outcome. An exception
// rolls all of them back.
using WriteTogether = std::function<std::vector<PartOutcome>(db::Tx&, std::span<const BatchPart>)>;

// Writes each part in the shared transaction with its own statements. An Error of a part rolls back
// that part only.
std::vector<PartOutcome> write_one_after_another(db::Tx& tx, std::span<const BatchPart> parts);

class BatchWriter {
  public:
    // `locked` keeps the organizations with locked rows from batch to batch.
    BatchWriter(Context& context, LockedOrganizations& locked, std::vector<Outcome>& outcomes)
        : context_(context), locked_(locked), outcomes_(outcomes) {}

    // Sets the outcome of each call. After an error of the whole transaction, such as a lock
    // timeout, the parts are written in halves, down to single ones. A part whose values the
    // database refuses is split by call. A connection lost during the commit fails all calls,
    // because the result of the commit is unknown.
    void write(std::vector<BatchPart> parts, const WriteTogether& together);

  private:
    std::vector<BatchPart> take_probes(std::vector<BatchPart>& parts);
    // How a joint transaction ended.
    enum class Joint : std::uint8_t { Done, Locked, Failed };
    void write_open(std::vector<BatchPart> parts, const WriteTogether& together);
    void leave_closed(std::vector<BatchPart>& parts);
    Joint write_together(std::vector<BatchPart>& parts, const WriteTogether& together);
    void write_alone(const BatchPart& part);
    void write_split(const BatchPart& part);
    void note_timeout(const BatchPart& part, std::chrono::milliseconds waited);
    void close(OrgId organization, std::chrono::milliseconds waited);
    void leave(const BatchPart& part, const std::exception_ptr& reason);
    void leave(const BatchPart& part);
    void settle(const BatchPart& part,
                std::variant<std::vector<StoredReply>, std::exception_ptr> outcome);
    void fail(const BatchPart& part, const std::exception_ptr& reason);

    Context& context_;
    LockedOrganizations& locked_;
    std::vector<Outcome>& outcomes_;
    // In this batch:
    std::set<OrgId> waited_;  // had a locked record of an Idempotency-Key
    std::set<OrgId> closed_;
};

}  // namespace muster::service
