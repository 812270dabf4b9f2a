#include "service/engagement/collect.hpp"

#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/engagement/events.hpp"
#include "service/quotas.hpp"

namespace muster::service {
namespace {

std::vector<BatchPart> tracked_parts_of_one_call(const Context& context, OrgId organization,
                                                 const EventCalls& calls);

BatchPart tracked_part(const Context& context, OrgId organization, const EventCalls& calls) {
    std::vector<std::size_t> indexes;
    std::vector<const CollectedEvents*> collected;
    std::vector<const TrackedCall*> tracked;
    for (const auto& [index, call] : calls) {
        indexes.push_back(index);
        collected.push_back(call);
        tracked.push_back(&std::get<TrackedCall>(call->events));
    }
    BatchPart part{
        organization, std::move(indexes),
        [&context, collected = std::move(collected), tracked = std::move(tracked)](db::Tx& tx) {
            OrgTransaction transaction{tx, tracked[0]->actor, Timestamp::now()};
            reject_full(transaction, rules::Quota::TrackedBytes, context.settings.limits);
            const auto counts = track_events(transaction, tracked);
            std::vector<StoredReply> replies;
            replies.reserve(counts.size());
            for (std::size_t i = 0; i < counts.size(); ++i) {
                replies.push_back(collected[i]->reply(counts[i]));
            }
            return replies;
        }};
    if (calls.size() > 1) {
        part.split = [&context, organization, calls] {
            return tracked_parts_of_one_call(context, organization, calls);
        };
    }
    return part;
}

std::vector<BatchPart> tracked_parts_of_one_call(const Context& context, OrgId organization,
                                                 const EventCalls& calls) {
    std::vector<BatchPart> parts;
    parts.reserve(calls.size());
    for (const auto& call : calls) parts.push_back(tracked_part(context, organization, {call}));
    return parts;
}

}  // namespace

std::vector<BatchPart> tracked_parts(const Context& context, const EventCalls& calls) {
    std::map<OrgId, EventCalls> by_organization;
    for (const auto& [index, call] : calls) {
        if (const auto* tracked = std::get_if<TrackedCall>(&call->events)) {
            by_organization[tracked->actor.organization].emplace(index, call);
        }
    }
    std::vector<BatchPart> parts;
    parts.reserve(by_organization.size());
    for (const auto& [organization, its_calls] : by_organization) {
        parts.push_back(tracked_part(context, organization, its_calls));
    }
    return parts;
}

std::vector<BatchPart> pushed_parts(const Context& context, const EventCalls& calls) {
    std::vector<BatchPart> parts;
    for (const auto& [index, call] : calls) {
        const auto* pushed = std::get_if<PushedCall>(&call->events);
        if (!pushed) continue;
        parts.push_back(
            {pushed->actor.organization,
             {index},
             [&context, pushed, &reply = call->reply](db::Tx& tx) {
                 const auto work = [&](OrgTransaction& transaction) {
                     reject_full(transaction, rules::Quota::IngestedBytes, context.settings.limits);
                     return reply(ingest_events(transaction, pushed->installation, pushed->events));
                 };
                 return std::vector{transact_in(tx, context, pushed->actor, pushed->claim, work)};
             }});
    }
    return parts;
}

}  // namespace muster::service
