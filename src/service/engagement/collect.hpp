// The parts of a collector's batch that write engagement events (service/collecting.hpp).
#pragma once

#include "service/batch_writer.hpp"
#include "service/engagement/ingest.hpp"
#include "service/engagement/tracking.hpp"

#include <functional>
#include <map>
#include <variant>

namespace muster::service {

// The events of one request, decoded and validated except for checks that need the database.
struct CollectedEvents {
    std::variant<TrackedCall, PushedCall> events;
    // Builds the reply inside the transaction, which records it for the call's Idempotency-Key.
    std::function<StoredReply(const rules::EventCounts&)> reply;
};

// The calls of a batch, by their index. They must live as long as the parts.
using EventCalls = std::map<std::size_t, const CollectedEvents*>;

// One part for each organization: one statement writes its tracked events.
std::vector<BatchPart> tracked_parts(const Context& context, const EventCalls& calls);
// One part for each request of a module.
std::vector<BatchPart> pushed_parts(const Context& context, const EventCalls& calls);

}  // namespace muster::service
