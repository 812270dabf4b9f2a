#include "service/collecting.hpp"

#include <stdexcept>

namespace muster::service {

std::vector<Outcome> Collector::collect(std::span<const CollectedCall> calls) {
    // Each call gets its outcome below. Without one it must not look successful.
    std::vector<Outcome> outcomes(
        calls.size(), std::make_exception_ptr(std::logic_error("a collected call got no outcome")));
    EventCalls events;
    MemberCalls members;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (const auto* member = std::get_if<CollectedMember>(&calls[i].call)) {
            members.emplace(i, member);
        } else {
            events.emplace(i, &std::get<CollectedEvents>(calls[i].call));
        }
    }
    // In three transactions: created members lock users, pushed events lock members, and tracked
    // events lock no rows.
    BatchWriter(context_, members_, outcomes)
        .write(member_parts(context_, members), [&](db::Tx& tx, std::span<const BatchPart> parts) {
            return write_members_together(tx, context_, members, parts);
        });
    BatchWriter(context_, tracked_, outcomes)
        .write(tracked_parts(context_, events), write_one_after_another);
    BatchWriter(context_, pushed_, outcomes)
        .write(pushed_parts(context_, events), write_one_after_another);
    return outcomes;
}

}  // namespace muster::service
