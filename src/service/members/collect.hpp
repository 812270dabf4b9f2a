// The parts of a collector's batch that create members (service/collecting.hpp).
#pragma once

#include "service/batch_writer.hpp"

#include <functional>
#include <map>
#include <memory>

namespace muster::rules {
struct MemberFields;
}

namespace muster::service {

struct CreatedMember;

// One request, decoded and validated except for its attributes.
struct CollectedMember {
    Actor actor;
    std::optional<IdempotencyClaim> claim;
    std::shared_ptr<const rules::MemberFields> fields;
    // Builds the reply inside the transaction, which records it for the call's Idempotency-Key.
    std::function<StoredReply(const CreatedMember&)> reply;
};

// The calls of a batch, by their index. They must live as long as the parts.
using MemberCalls = std::map<std::size_t, const CollectedMember*>;

// One part for each request.
std::vector<BatchPart> member_parts(const Context& context, const MemberCalls& calls);

// For each call, in the order of `calls`: how many transactions of the batch it may have to wait
// for, because calls before it have its address or its Idempotency-Key.
std::vector<std::size_t> transactions_before(const MemberCalls& calls);

// Writes the parts with few statements. Equal addresses and equal Idempotency-Keys wait for a
// further transaction, so that each request sees the result of the one before it.
std::vector<PartOutcome> write_members_together(db::Tx& tx, const Context& context,
                                                const MemberCalls& calls,
                                                std::span<const BatchPart> parts);

}  // namespace muster::service
