#include "service/collecting.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

// The calls of one kind by their index.
template <class Kind>
std::map<std::size_t, const Kind*> calls_of(std::span<const CollectedCall> calls) {
    std::map<std::size_t, const Kind*> found;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (const auto* call = std::get_if<Kind>(&calls[i].call)) found.emplace(i, call);
    }
    return found;
}

}  // namespace

std::vector<std::size_t> transactions_before(std::span<const CollectedCall> calls) {
    std::vector<std::size_t> before(calls.size());
    const auto members = calls_of<CollectedMember>(calls);
    const auto of_members = transactions_before(members);
    std::size_t n = 0;
    for (const auto& [index, member] : members) before[index] = of_members[n++];
    return before;
}

std::vector<Outcome> Collector::collect(std::span<const CollectedCall> calls) {
    // Each call gets its outcome below. Without one it must not look successful.
    std::vector<Outcome> outcomes(
        calls.size(), std::make_exception_ptr(std::logic_error("a collected call got no outcome")));
    const auto events = calls_of<CollectedEvents>(calls);
    const auto members = calls_of<CollectedMember>(calls);
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
