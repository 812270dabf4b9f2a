// Writes the events of many requests in one transaction (docs/developers/architecture.md "The
// collectors"). api/pipeline.cpp gathers them.
#pragma once

#include "service/engagement/ingest.hpp"
#include "service/engagement/tracking.hpp"

#include <exception>
#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace muster::service {

// One request's, decoded and checked but for what the database knows.
struct CollectedCall {
    std::variant<TrackedCall, PushedCall> events;
    // Makes the reply inside the transaction, which records it for the call's Idempotency-Key.
    std::function<StoredReply(const rules::EventCounts&)> reply;
};

// The reply once it is committed, or why nothing of that request was written.
using Outcome = std::variant<StoredReply, std::exception_ptr>;

// Writes them, what pages track in one transaction and what modules push in another, and gives each
// its outcome, in the same order. What fails by itself (an unknown member, an Idempotency-Key that
// was used) fails alone; what fails together (a lock that is held too long) is tried again one by
// one; a connection that is lost fails all, since nobody knows whether the commit happened.
std::vector<Outcome> collect(Context& context, std::span<const CollectedCall> calls);

}  // namespace muster::service
