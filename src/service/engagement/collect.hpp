// Writes the events that the collectors gather (api/pipeline.cpp): many requests in one transaction
// (docs/developers/architecture.md "The collectors").
#pragma once

#include "service/engagement/ingest.hpp"
#include "service/engagement/tracking.hpp"

#include <exception>
#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace muster::service {

// One request, decoded and validated except for checks that need the database.
struct CollectedCall {
    std::variant<TrackedCall, PushedCall> events;
    // Builds the reply inside the transaction, which records it for the call's Idempotency-Key.
    std::function<StoredReply(const rules::EventCounts&)> reply;
};

// The reply after the commit, or the reason why no event of the request was written.
using Outcome = std::variant<StoredReply, std::exception_ptr>;

// Writes tracked events in one transaction and pushed events in another. Returns the outcome of
// each call, in order. An error of one call, such as an unknown member or a used Idempotency-Key,
// fails that call only. After an error of the whole transaction, such as a lock timeout, each call
// is written separately. A connection lost during the commit fails all calls, because the result of
// the commit is unknown.
std::vector<Outcome> collect(Context& context, std::span<const CollectedCall> calls);

}  // namespace muster::service
