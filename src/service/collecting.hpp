// What a collector writes: the calls of many requests, in one transaction for each kind
// (docs/developers/architecture.md "The collectors").
#pragma once

#include "service/engagement/collect.hpp"
#include "service/members/collect.hpp"

#include <span>
#include <variant>
#include <vector>

namespace muster::service {

struct CollectedCall {
    std::variant<CollectedEvents, CollectedMember> call;
};

// For each call: how many transactions of the batch it may have to wait for, because calls before
// it write the same record (service/members/collect.hpp).
std::vector<std::size_t> transactions_before(std::span<const CollectedCall> calls);

// Belongs to one worker.
class Collector {
  public:
    explicit Collector(Context& context) : context_(context) {}

    // Returns the outcome of each call, in order. Each call has the result that it would have
    // alone. An error of one call, such as an unknown member or a used Idempotency-Key, fails that
    // call only.
    std::vector<Outcome> collect(std::span<const CollectedCall> calls);

  private:
    Context& context_;
    // One for each kind, because the kinds lock different rows.
    LockedOrganizations members_;
    LockedOrganizations tracked_;
    LockedOrganizations pushed_;
};

}  // namespace muster::service
