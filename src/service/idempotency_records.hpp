// The recorded replies of one organization's requests, inside a transaction.
// service/idempotency.hpp uses them for one request, service/members/collect.hpp for many.
#pragma once

#include "service/idempotency.hpp"
#include "store/idempotency.hpp"

#include <span>
#include <unordered_map>
#include <vector>

namespace muster::service {

struct ClaimedReply {
    const IdempotencyClaim* claim;
    const StoredReply* reply;
};

class IdempotencyRecords {
  public:
    // Looks the claims up. Requests whose key is not recorded may run. With RecordLock::Share it
    // waits for a first request that is about to end, and throws IDEMPOTENCY_IN_PROGRESS if it does
    // not end in time.
    IdempotencyRecords(const Context& context, const OrgTransaction& transaction,
                       std::span<const IdempotencyClaim* const> claims, store::RecordLock lock);

    // The recorded reply; nullopt if there is none or it has expired. Throws IDEMPOTENCY_CONFLICT
    // if the body differs from the recorded request, QUOTA_EXCEEDED if none can be recorded today.
    std::optional<StoredReply> find(const IdempotencyClaim& claim);

    // Records the replies of requests that ran; their keys must differ. Throws RetryTransaction if
    // another transaction recorded one of the keys meanwhile: its reply wins, and this transaction
    // must be rolled back. Throws IDEMPOTENCY_IN_PROGRESS if such a transaction does not end in
    // time.
    void record(std::span<const ClaimedReply> replies);

    // Throws RetryTransaction if another transaction recorded one of these keys meanwhile. For
    // requests that failed: the failure may be a consequence of the first request.
    void retry_if_recorded(std::span<const IdempotencyClaim* const> claims);

  private:
    void look_up(std::span<const IdempotencyClaim* const> claims, store::RecordLock lock);
    bool is_current(const IdempotencyClaim& claim) const;

    const Context& context_;
    OrgTransaction transaction_;
    db::OrgStore org_;
    std::unordered_map<std::string, store::IdempotencyRecord> records_;
};

}  // namespace muster::service
